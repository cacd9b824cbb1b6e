import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { helperEnvironment } from './base-environment.ts'
import type { Containment, ProcessScope } from './containment.ts'
import { isOwnProc, signalProcess } from './process-tree.ts'
import { programText } from './program-text.ts'

const markName = 'TOOLDEX_RUN_ID'
// A killed process needs a moment to end, and may have forked during the scan.
const [pollIntervalMs, maxScans] = [10, 100]

/** A process group, and a mark in the environment that identifies processes that left the group. */
export function createProcessGroups(): Containment {
  const watcher = new GroupWatcher()
  return {
    kind: 'process-group',
    async start() {
      watcher.ready()
      return createScope(watcher)
    },
  }
}

function createScope(watcher: GroupWatcher): ProcessScope {
  const mark = `${watcher.mark}-${randomUUID()}`
  let first: number | undefined
  let clean = false
  const kill = (pid: number, signal: 'SIGTERM' | 'SIGKILL'): void => {
    first = pid
    const grouped = signalProcess(-pid, signal)
    if (signal === 'SIGKILL') clean = killMarked() === 0 && !grouped
  }
  const killMarked = (): number => {
    const found = first === undefined ? [] : findMarked(`${markName}=${mark}`, first)
    for (const pid of found) signalProcess(pid, 'SIGKILL')
    return found.length
  }
  let group: number | undefined
  return {
    wrap: (program, args) => [program, args],
    env: { [markName]: mark },
    spawnInside: (start) => start(),
    started(pid) {
      group = pid
      watcher.started(pid)
    },
    kill,
    sweep: (pid) => kill(pid, 'SIGKILL'),
    async close() {
      for (let scan = 0; !clean && scan < maxScans && killMarked() > 0; scan++) await sleep(pollIntervalMs)
      if (group !== undefined) watcher.ended(group)
    },
  }
}

/** The processes with a mark in their initial environment: all descendants of a call, detached ones included. */
function findMarked(mark: string, firstPid: number): readonly number[] {
  return process.platform === 'linux' ? findInProc(mark, firstPid) : findWithPs(mark)
}

function findInProc(mark: string, firstPid: number): readonly number[] {
  if (!isOwnProc()) return []
  const last = lastPid()
  // No process was started since, so there are no descendants.
  if (last === firstPid) return []
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  // Descendants have higher pids, unless the pids wrapped around.
  const candidates = last < firstPid ? pids : pids.filter((pid) => pid > firstPid)
  return candidates.filter((pid) => pid !== process.pid && environOf(pid).includes(`${mark}\0`))
}

function lastPid(): number {
  return Number(readFileSync('/proc/loadavg', 'utf8').trim().split(' ').at(-1))
}

function environOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

function findWithPs(mark: string): readonly number[] {
  const { stdout } = spawnSync('ps', ['-Eww', '-axo', 'pid=,command='], {
    encoding: 'utf8',
    timeout: 2000,
    env: helperEnvironment(),
  })
  const lines = (stdout ?? '').split('\n').filter((line) => line.includes(mark))
  return lines.map((line) => Number.parseInt(line, 10)).filter((pid) => Number.isInteger(pid) && pid !== process.pid)
}

const script = programText('./group-watcher.sh', import.meta.url)

/** Ends the calls of this process after the process was killed: by a shell in a session of its own, so that signals to this process do not reach it. */
class GroupWatcher {
  /** The mark in the environment of every process of every call. */
  readonly mark = randomBytes(12).toString('hex')
  #shell: ChildProcess | undefined

  /** Registers the process group of a running call. */
  started(group: number): void {
    this.#send(`+ ${group}\n`)
  }

  ended(group: number): void {
    this.#send(`- ${group}\n`)
  }

  /** Starts the shell before the first call, and again if it was killed. */
  ready(): void {
    if (this.#shell === undefined || this.#shell.exitCode !== null || this.#shell.signalCode !== null)
      this.#shell = this.#start()
  }

  #start(): ChildProcess {
    const shell = spawn('/bin/sh', ['-c', script(), this.mark], {
      detached: true,
      cwd: '/',
      env: helperEnvironment(),
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    // Without a shell there is no watcher; calls that end normally are cleaned up all the same.
    shell.on('error', () => {})
    shell.stdin.on('error', () => {})
    shell.unref()
    ;(shell.stdin as Writable & { unref(): void }).unref()
    return shell
  }

  #send(line: string): void {
    if (this.#shell?.stdin?.writable) this.#shell.stdin.write(line)
  }
}
