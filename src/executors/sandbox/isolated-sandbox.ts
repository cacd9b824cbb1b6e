import type { ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, openSync, readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/visible-text.ts'
import type { ProcessScope } from '../process/containment.ts'
import { descendantsOf } from '../process/descendants-of.ts'
import { PidsCgroup } from '../process/pids-cgroup.ts'
import { procIsOurs } from '../process/proc-is-ours.ts'
import type { ProcessEnd } from '../process/run-process.ts'
import { signalOf } from '../process/signal-names.ts'
import { signalProcess } from '../process/signal-process.ts'
import { bubblewrapArguments, type SandboxShape } from './bubblewrap-arguments.ts'
import { leakedDescriptors } from './leaked-descriptors.ts'
import { prlimitArguments } from './sandbox-limits.ts'

/** How this machine makes sandboxes, as the self-test found it. */
export interface Bubblewrap {
  readonly bwrap: string
  readonly prlimit: string
  readonly filter: Buffer
  /** Who bubblewrap is started as: a user of its own for each run, nobody, or whoever we are. */
  readonly user: 'own' | 'nobody' | 'same'
}

/** A cell that also says how the sandbox itself fared. */
export interface IsolatedSandbox extends ProcessScope {
  /** How the program ended; throws where it was never started. */
  explain(end: ProcessEnd): ProcessEnd
}

// After the three streams of a program: its result, then what bubblewrap reads and tells.
const [argsFd, filterFd, statusFd] = [4, 5, 6]
const [goneEveryMs, goneTries] = [2, 500]
const maxStatus = 4096

/** A sandbox for one run, made when the run starts. */
export function isolatedSandbox(
  made: Bubblewrap,
  shape: SandboxShape,
  withChannel: boolean,
  owner?: RunUser | undefined,
): IsolatedSandbox {
  const { limits } = shape
  // Files of the work folder are memory too.
  const memoryBytes = (limits.memoryMb + limits.fileMb) * 1024 ** 2
  const cgroup = PidsCgroup.create(limits.processes + ownProcesses, memoryBytes)
  const leaks = leakedDescriptors().filter((fd) => fd > statusFd)
  const nothing = leaks.length === 0 ? undefined : openSync('/dev/null', 'r')
  const streams: ('pipe' | 'ignore' | number)[] = [withChannel ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe']
  for (const fd of leaks) {
    while (streams.length < fd - 3) streams.push('ignore')
    streams[fd - 3] = nothing as number
  }
  let status = ''
  const initPid = () => Number(/"child-pid": (\d+)/.exec(status)?.[1] ?? Number.NaN)
  return {
    wrap: (program, args) => [
      made.bwrap,
      [
        ...['--args', String(argsFd), '--seccomp', String(filterFd), '--json-status-fd', String(statusFd), '--'],
        ...[made.prlimit, ...prlimitArguments(limits, limits.processes), program, ...args],
      ],
    ],
    env: {},
    streams,
    user: made.user === 'same' || owner === undefined || !isCounted(owner, cgroup) ? userOf(made.user) : notRoot(owner),
    spawnInside: (start) => (cgroup === undefined ? start() : cgroup.spawnInside(start)),
    opened(child) {
      if (nothing !== undefined) closeSync(nothing)
      give(child, argsFd, `${bubblewrapArguments(shape).join('\0')}\0`)
      give(child, filterFd, made.filter)
      const told = child.stdio[statusFd] as Readable
      told.on('error', () => {})
      told.setEncoding('latin1').on('data', (text: string) => {
        if (status.length < maxStatus) status += text
      })
    },
    kill: (pid, signal) => killSandbox(pid, initPid(), signal),
    // Bubblewrap ends what is left in its namespace, unless it gave up before it had one.
    sweep: (pid) => killSandbox(pid, initPid(), 'SIGKILL'),
    async close() {
      for (let tries = 0; tries < goneTries && isThere(initPid()); tries++) await sleep(goneEveryMs)
      cgroup?.remove()
    },
    explain: (end) => explain(end, status),
  }
}

/** Bubblewrap itself, and the first process of its namespace. */
const ownProcesses = 3

/** The user that a run is outside its sandbox. */
export interface RunUser {
  readonly uid: number
  readonly gid: number
}

/** Whether the processes of a user can be bounded: those of root only by a control group. */
export const isCounted = ({ uid }: RunUser, cgroup: PidsCgroup | undefined): boolean =>
  uid !== 0 || cgroup !== undefined

/** Who is root already need not become it. */
const notRoot = (user: RunUser): RunUser | undefined => (user.uid === 0 ? undefined : user)

/** Numbers that no account has: each run is a stranger to every other, and the kernel counts its processes apart. */
function userOf(user: Bubblewrap['user']): RunUser | undefined {
  if (user === 'same') return undefined
  const id = user === 'nobody' ? 65_534 : 1_900_000_000 + randomInt(2 ** 24)
  return { uid: id, gid: id }
}

function give(child: ChildProcess, fd: number, content: string | Buffer): void {
  const stream = child.stdio[fd] as Writable
  stream.on('error', () => {})
  stream.end(content)
}

function killSandbox(pid: number, init: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (signal === 'SIGKILL') {
    // The end of the namespace's first process is the end of all.
    if (Number.isInteger(init)) signalProcess(init, 'SIGKILL')
    signalProcess(-pid, 'SIGKILL')
    return
  }
  const inside = Number.isInteger(init) && procIsOurs() ? descendantsOf(init) : []
  for (const each of inside) signalProcess(each, 'SIGTERM')
  if (inside.length === 0) signalProcess(-pid, 'SIGKILL')
}

/** Whether a process is there, and not merely waiting for its parent to look: by then its namespace is empty. */
function isThere(pid: number): boolean {
  if (!Number.isInteger(pid)) return false
  try {
    if (!procIsOurs()) return process.kill(pid, 0)
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

/** Bubblewrap says a signal as a shell does; without an exit code it never came to start anything. */
function explain(end: ProcessEnd, status: string): ProcessEnd {
  const started = /"exit-code": \d+/.test(status)
  if (!started && end.stopped === null && end.signal === null) {
    const said = toOneLine(end.stderr.text.trim().split('\n').at(-1) ?? '').slice(0, 300)
    throw new TooldexError('SANDBOX_FAILED', `The sandbox could not be made: ${said || `exit code ${end.exitCode}`}.`)
  }
  const signal = end.signal ?? (end.exitCode === null ? null : signalOf(end.exitCode - 128))
  return signal === null ? end : { ...end, exitCode: null, signal }
}
