import type { ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import type { ProcessScope } from '../process/containment.ts'
import { PidsCgroup } from '../process/pids-cgroup.ts'
import { descendantsOfProcess, isOwnProc, signalOf, signalProcess } from '../process/process-tree.ts'
import type { ProcessEnd } from '../process/run-process.ts'
import { bubblewrapArguments, type SandboxShape } from './bubblewrap-arguments.ts'
import { prlimitArguments } from './sandbox-limits.ts'

/** The sandbox method of this machine, as found by the self-test. */
export interface Bubblewrap {
  readonly bwrap: string
  readonly prlimit: string
  readonly filter: Buffer
  /** The user of bubblewrap: one of its own for each run, nobody, or the user of this process. */
  readonly user: 'own' | 'nobody' | 'same'
}

/** A process scope inside a bubblewrap sandbox. */
export interface IsolatedSandbox extends ProcessScope {
  /** The end of the program; throws if it was never started. */
  explain(end: ProcessEnd): ProcessEnd
}

// After the three streams of a program and its result: the arguments, the filter and the status of bubblewrap.
const [argsFd, filterFd, statusFd] = [4, 5, 6]
const [goneEveryMs, goneTries] = [2, 500]
const maxStatus = 4096

/** A sandbox for one run, created when the run starts. */
export function isolatedSandbox(
  bubblewrap: Bubblewrap,
  shape: SandboxShape,
  withChannel: boolean,
  owner?: RunUser | undefined,
): IsolatedSandbox {
  const { limits } = shape
  // The work folder is in memory, so its files count too.
  const memoryBytes = (limits.memoryMb + limits.fileMb) * 1024 ** 2
  const cgroup = PidsCgroup.create(limits.processes + ownProcesses, memoryBytes)
  const leaks = leakedDescriptors().filter((fd) => fd > statusFd)
  const nullFd = leaks.length === 0 ? undefined : openSync('/dev/null', 'r')
  const streams: ('pipe' | 'ignore' | number)[] = [withChannel ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe']
  for (const fd of leaks) {
    while (streams.length < fd - 3) streams.push('ignore')
    streams[fd - 3] = nullFd as number
  }
  let status = ''
  const initPid = () => Number(/"child-pid": (\d+)/.exec(status)?.[1] ?? Number.NaN)
  return {
    wrap: (program, args) => [
      bubblewrap.bwrap,
      [
        ...['--args', String(argsFd), '--seccomp', String(filterFd), '--json-status-fd', String(statusFd), '--'],
        ...[bubblewrap.prlimit, ...prlimitArguments(limits, limits.processes), program, ...args],
      ],
    ],
    env: {},
    streams,
    user:
      bubblewrap.user === 'same' || owner === undefined || !isCounted(owner, cgroup)
        ? userOf(bubblewrap.user)
        : notRoot(owner),
    spawnInside: (start) => (cgroup === undefined ? start() : cgroup.spawnInside(start)),
    opened(child) {
      if (nullFd !== undefined) closeSync(nullFd)
      sendInput(child, argsFd, `${bubblewrapArguments(shape).join('\0')}\0`)
      sendInput(child, filterFd, bubblewrap.filter)
      const statusStream = child.stdio[statusFd] as Readable
      statusStream.on('error', () => {})
      statusStream.setEncoding('latin1').on('data', (text: string) => {
        if (status.length < maxStatus) status += text
      })
    },
    kill: (pid, signal) => killSandbox(pid, initPid(), signal),
    // Bubblewrap ends the rest of its namespace, unless it failed before it had one.
    sweep: (pid) => killSandbox(pid, initPid(), 'SIGKILL'),
    async close() {
      for (let tries = 0; tries < goneTries && isRunning(initPid()); tries++) await sleep(goneEveryMs)
      cgroup?.remove()
    },
    explain: (end) => explain(end, status),
  }
}

/** Bubblewrap itself, and the first process of its namespace. */
const ownProcesses = 3

/** The user of a run outside its sandbox. */
export interface RunUser {
  readonly uid: number
  readonly gid: number
}

/** Whether the processes of a user can be bounded: those of root only by a control group. */
export const isCounted = ({ uid }: RunUser, cgroup: PidsCgroup | undefined): boolean =>
  uid !== 0 || cgroup !== undefined

/** Root needs no change of the user. */
const notRoot = (user: RunUser): RunUser | undefined => (user.uid === 0 ? undefined : user)

/** User ids without an account, so that runs cannot access each other and the kernel counts their processes separately. */
function userOf(user: Bubblewrap['user']): RunUser | undefined {
  if (user === 'same') return undefined
  const id = user === 'nobody' ? 65_534 : 1_900_000_000 + randomInt(2 ** 24)
  return { uid: id, gid: id }
}

function sendInput(child: ChildProcess, fd: number, content: string | Buffer): void {
  const stream = child.stdio[fd] as Writable
  stream.on('error', () => {})
  stream.end(content)
}

function killSandbox(pid: number, init: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (signal === 'SIGKILL') {
    // The kernel kills the namespace with its first process.
    if (Number.isInteger(init)) signalProcess(init, 'SIGKILL')
    signalProcess(-pid, 'SIGKILL')
    return
  }
  const inside = Number.isInteger(init) && isOwnProc() ? descendantsOfProcess(init) : []
  for (const each of inside) signalProcess(each, 'SIGTERM')
  if (inside.length === 0) signalProcess(-pid, 'SIGKILL')
}

/** Whether a process exists and is not a zombie: the namespace of a zombie is empty. */
function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid)) return false
  try {
    if (!isOwnProc()) return process.kill(pid, 0)
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

/** Bubblewrap reports signals as a shell does; without an exit code, it did not start the program. */
function explain(end: ProcessEnd, status: string): ProcessEnd {
  const started = /"exit-code": \d+/.test(status)
  if (!started && end.stopped === null && end.signal === null) {
    const lastLine = toOneLine(end.stderr.text.trim().split('\n').at(-1) ?? '').slice(0, 300)
    throw new TooldexError(
      'SANDBOX_FAILED',
      `The sandbox could not be created: ${lastLine || `exit code ${end.exitCode}`}.`,
    )
  }
  const signal = end.signal ?? (end.exitCode === null ? null : signalOf(end.exitCode - 128))
  return signal === null ? end : { ...end, exitCode: null, signal }
}

const closesOnExec = 0o2000000

/**
 * Descriptors that this process inherited and that every child would inherit, too. Descriptors of Node close on exec; of
 * the inherited ones, Node closes only the first few.
 */
function leakedDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((fd) => fd > 2 && !closes(fd))
  } catch {
    return []
  }
}

function closes(fd: number): boolean {
  try {
    const [, flags = '0'] = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? []
    return (Number.parseInt(flags, 8) & closesOnExec) !== 0
  } catch {
    // The descriptor of the folder listing itself.
    return true
  }
}
