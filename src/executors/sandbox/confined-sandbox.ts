import type { ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { getSystemErrorName } from 'node:util'
import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/visible-text.ts'
import type { ProcessScope } from '../process/containment.ts'
import { PidsCgroup } from '../process/pids-cgroup.ts'
import { endUser, signalOf, signalProcess } from '../process/process-tree.ts'
import { programText } from '../process/program-text.ts'
import type { ProcessEnd } from '../process/run-process.ts'
import { toStartError } from '../process/start-error.ts'
import { type ConfinedShape, encodePolicy, firstOwnUser } from './confined-policy.ts'
import { makeFolder, removeFolder } from './fresh-folder.ts'
import { isCounted, type RunUser } from './isolated-sandbox.ts'
import { type Confinement, seccompProgram } from './seccomp-program.ts'

/** The confinement method of this machine, as found by the self-test. */
export interface Landlock {
  /** The Python interpreter of the launcher. */
  readonly python: string
  /** The user of a run: one of its own, nobody, or the user of this process. */
  readonly user: 'own' | 'nobody' | 'same'
}

/** A process scope with a work folder of its own, confined by Landlock. */
export interface ConfinedSandbox extends ProcessScope {
  readonly folder: string
  /** The end of the program; throws if it was never started. */
  explain(end: ProcessEnd): ProcessEnd
}

// After the three streams of a program and its result: the control stream and the report stream of the launcher.
const [controlFd, reportFd] = [4, 5]
const maxReported = 4096
const landlockLauncher = programText('./landlock-launcher.py', import.meta.url)
const mebibyte = 1024 ** 2
/** The resources of the keeper of a run. */
const keeper = { processes: 1, memoryMb: 32 }

/** A work folder and a policy for one run; the launcher applies the policy before it starts the program. */
export function confinedSandbox(
  landlock: Landlock,
  shape: ConfinedShape,
  withChannel: boolean,
  owner?: RunUser | undefined,
): ConfinedSandbox {
  const { processes, memoryMb } = shape.limits
  const cgroup = PidsCgroup.create(processes + keeper.processes, (memoryMb + keeper.memoryMb) * mebibyte)
  const usesOwner = landlock.user !== 'same' && owner !== undefined && isCounted(owner, cgroup)
  const user = usesOwner ? owner.uid : userOf(landlock.user)
  const filter = filterFor({ network: shape.network, ownsFiles: landlock.user !== 'own' || usesOwner })
  const folder = makeFolder(user)
  const env = { HOME: folder, TMPDIR: folder, ...shape.env }
  let [policy, report, name]: [Buffer, string, string] = [Buffer.alloc(0), '', '']
  let [control, launcher]: [Writable?, ChildProcess?] = []
  return {
    folder,
    env: {},
    streams: [withChannel ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    wrap(program, args) {
      const run = { folder, user, filter, withChannel, program, argv: [program, ...args] }
      name = program
      policy = encodePolicy({ ...shape, env }, run)
      return [landlock.python, ['-I', '-S', '-B', '-c', landlockLauncher()]]
    },
    spawnInside: (start) => (cgroup === undefined ? start() : cgroup.spawnInside(start)),
    opened(child) {
      launcher = child
      control = sendPolicy(child, policy)
      listen(child, (text) => {
        if (report.length < maxReported) report += text
      })
    },
    kill(pid, signal) {
      const started = report.startsWith('started\n')
      if (started && signal === 'SIGTERM') control?.write('.')
      // A launcher that closed its control stream has started nothing.
      else if (control?.destroyed && !started) signalProcess(-pid, 'SIGKILL')
      else control?.destroy()
    },
    // A keeper that exited with 0 left no process; if it was killed, the exclusive user id identifies the rest.
    sweep() {
      if (user !== undefined && user >= firstOwnUser && launcher?.exitCode !== 0) endUser(user)
    },
    async close() {
      control?.destroy()
      cgroup?.remove()
      await removeFolder(folder)
    },
    explain: (end) => explain(end, report, name),
  }
}

function userOf(user: Landlock['user']): number | undefined {
  if (user === 'same') return undefined
  return user === 'nobody' ? 65_534 : firstOwnUser + randomInt(2 ** 24)
}

function filterFor(confinement: Confinement): Buffer {
  const filter = seccompProgram(process.arch, confinement)
  if (filter !== undefined) return filter
  throw new TooldexError('SANDBOX_MISSING', `There is no system call filter for the processor ${process.arch}.`)
}

/** The stream stays open: the launcher takes its end as the end of this process. */
function sendPolicy(child: ChildProcess, policy: Buffer): Writable {
  const stream = child.stdio[controlFd] as Writable
  stream.on('error', () => {})
  stream.write(policy)
  return stream
}

function listen(child: ChildProcess, onText: (text: string) => void): void {
  const stream = child.stdio[reportFd] as Readable
  stream.on('error', () => {})
  stream.setEncoding('utf8').on('data', onText)
}

/** The keeper exits with 0 and reports the status of the program; without a report, the program was never started. */
function explain(end: ProcessEnd, report: string, program: string): ProcessEnd {
  const [, errno] = /^exec (\d+)$/m.exec(report) ?? []
  if (errno !== undefined) throw toStartError({ code: getSystemErrorName(-Number(errno)) }, program)
  const [, status] = /^ended (\d+)$/m.exec(report) ?? []
  const started = report.startsWith('started\n')
  if (started && status !== undefined) {
    const signal = signalOf(Number(status) & 0x7f)
    return { ...end, exitCode: signal === null ? Number(status) >> 8 : null, signal }
  }
  if (end.stopped !== null || (started && end.signal !== null)) return end
  const [, why] = /^failed (.*)$/m.exec(report) ?? []
  const last = why ?? end.stderr.text.trim().split('\n').at(-1) ?? ''
  const reason = toOneLine(last).slice(0, 300) || `exit code ${end.exitCode ?? end.signal}`
  throw new TooldexError('SANDBOX_FAILED', `The program could not be confined: ${reason}.`)
}
