import type { ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { getSystemErrorName } from 'node:util'
import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/visible-text.ts'
import type { ProcessScope } from '../process/containment.ts'
import { endUser } from '../process/end-user.ts'
import { PidsCgroup } from '../process/pids-cgroup.ts'
import type { ProcessEnd } from '../process/run-process.ts'
import { signalOf } from '../process/signal-names.ts'
import { signalProcess } from '../process/signal-process.ts'
import { toStartError } from '../process/start-error.ts'
import { type ConfinedShape, encodePolicy, firstOwnUser } from './confined-policy.ts'
import { makeFolder, removeFolder } from './fresh-folder.ts'
import { isCounted, type RunUser } from './isolated-sandbox.ts'
import { landlockLauncher } from './landlock-launcher.ts'
import { type Confinement, seccompProgram } from './seccomp-program.ts'

/** How this machine confines, as the self-test found it. */
export interface Landlock {
  /** What runs the launcher. */
  readonly python: string
  /** Who a run becomes: a user of its own, nobody, or whoever we are. */
  readonly user: 'own' | 'nobody' | 'same'
}

/** A cell with a folder of its own that also says how the walls fared. */
export interface ConfinedSandbox extends ProcessScope {
  readonly folder: string
  /** How the program ended; throws where it was never started. */
  explain(end: ProcessEnd): ProcessEnd
}

// After the three streams of a program and its result: what the launcher is told by, and what it tells.
const [holdFd, toldFd] = [4, 5]
const maxReported = 4096
const mebibyte = 1024 ** 2
/** The keeper of a run, and what its interpreter takes. */
const keeper = { processes: 1, memoryMb: 32 }

/** A fresh folder and a policy for one run; the walls are put up by the launcher before the program begins. */
export function confinedSandbox(
  made: Landlock,
  shape: ConfinedShape,
  withChannel: boolean,
  owner?: RunUser | undefined,
): ConfinedSandbox {
  const { processes, memoryMb } = shape.limits
  const cgroup = PidsCgroup.create(processes + keeper.processes, (memoryMb + keeper.memoryMb) * mebibyte)
  const usesOwner = made.user !== 'same' && owner !== undefined && isCounted(owner, cgroup)
  const user = usesOwner ? owner.uid : userOf(made.user)
  const filter = filterFor({ network: shape.network, ownsFiles: made.user !== 'own' || usesOwner })
  const folder = makeFolder(user)
  const env = { HOME: folder, TMPDIR: folder, ...shape.env }
  let [policy, told, name]: [Buffer, string, string] = [Buffer.alloc(0), '', '']
  let [hold, launcher]: [Writable?, ChildProcess?] = []
  return {
    folder,
    env: {},
    streams: [withChannel ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    wrap(program, args) {
      const run = { folder, user, filter, withChannel, program, argv: [program, ...args] }
      name = program
      policy = encodePolicy({ ...shape, env }, run)
      return [made.python, ['-I', '-S', '-B', '-c', landlockLauncher]]
    },
    spawnInside: (start) => (cgroup === undefined ? start() : cgroup.spawnInside(start)),
    opened(child) {
      launcher = child
      hold = give(child, policy)
      listen(child, (text) => {
        if (told.length < maxReported) told += text
      })
    },
    kill(pid, signal) {
      const started = told.startsWith('started\n')
      if (started && signal === 'SIGTERM') hold?.write('.')
      // A launcher that does not listen has started nothing.
      else if (hold?.destroyed && !started) signalProcess(-pid, 'SIGKILL')
      else hold?.destroy()
    },
    // A keeper that ended well left nothing; where it was killed itself, a stranger's number is all there is to go by.
    sweep() {
      if (user !== undefined && user >= firstOwnUser && launcher?.exitCode !== 0) endUser(user)
    },
    async close() {
      hold?.destroy()
      cgroup?.remove()
      await removeFolder(folder)
    },
    explain: (end) => explain(end, told, name),
  }
}

function userOf(user: Landlock['user']): number | undefined {
  if (user === 'same') return undefined
  return user === 'nobody' ? 65_534 : firstOwnUser + randomInt(2 ** 24)
}

function filterFor(confinement: Confinement): Buffer {
  const filter = seccompProgram(process.arch, confinement)
  if (filter !== undefined) return filter
  throw new TooldexError('SANDBOX_MISSING', `There is no filter of system calls for ${process.arch}.`)
}

/** Stays open: its end is what the launcher takes for ours. */
function give(child: ChildProcess, policy: Buffer): Writable {
  const stream = child.stdio[holdFd] as Writable
  stream.on('error', () => {})
  stream.write(policy)
  return stream
}

function listen(child: ChildProcess, onText: (text: string) => void): void {
  const stream = child.stdio[toldFd] as Readable
  stream.on('error', () => {})
  stream.setEncoding('utf8').on('data', onText)
}

/** The keeper ends well whatever became of the program, and tells that; without it the program never was. */
function explain(end: ProcessEnd, told: string, program: string): ProcessEnd {
  const [, errno] = /^exec (\d+)$/m.exec(told) ?? []
  if (errno !== undefined) throw toStartError({ code: getSystemErrorName(-Number(errno)) }, program)
  const [, status] = /^ended (\d+)$/m.exec(told) ?? []
  const started = told.startsWith('started\n')
  if (started && status !== undefined) {
    const signal = signalOf(Number(status) & 0x7f)
    return { ...end, exitCode: signal === null ? Number(status) >> 8 : null, signal }
  }
  if (end.stopped !== null || (started && end.signal !== null)) return end
  const [, why] = /^failed (.*)$/m.exec(told) ?? []
  const last = why ?? end.stderr.text.trim().split('\n').at(-1) ?? ''
  const reason = toOneLine(last).slice(0, 300) || `exit code ${end.exitCode ?? end.signal}`
  throw new TooldexError('SANDBOX_FAILED', `The program could not be confined: ${reason}.`)
}
