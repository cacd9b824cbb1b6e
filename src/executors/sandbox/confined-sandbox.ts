import type { ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { getSystemErrorName } from 'node:util'
import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import type { ProcessScope } from '../process/containment.ts'
import { countThreadsOfUser } from '../process/limit-own-process.ts'
import { PidsCgroup } from '../process/pids-cgroup.ts'
import { killProcessesOfUser, signalOf, signalProcess } from '../process/process-tree.ts'
import { programText } from '../process/program-text.ts'
import type { ProcessEnd } from '../process/run-process.ts'
import { toStartError } from '../process/start-error.ts'
import type { Mount } from './bubblewrap-arguments.ts'
import { isCounted, type RunUser } from './isolated-sandbox.ts'
import { makeSandboxFolder, removeSandboxFolder } from './limited-sandbox.ts'
import type { SandboxLimits } from './sandbox-limits.ts'
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
  const folder = makeSandboxFolder(user)
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
      policy = encodeConfinedPolicy({ ...shape, env }, run)
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
      if (user !== undefined && user >= firstOwnUser && launcher?.exitCode !== 0) killProcessesOfUser(user)
    },
    async close() {
      control?.destroy()
      cgroup?.remove()
      await removeSandboxFolder(folder)
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

/** The settings of one confined run. */
interface ConfinedShape {
  readonly limits: SandboxLimits
  readonly network: boolean
  /** Without a mount namespace, a target must equal its source. */
  readonly mounts: readonly Mount[]
  readonly env: Readonly<Record<string, string>>
  /** The working folder; the work folder of the run where absent. */
  readonly cwd?: string | undefined
}

/** The values that are determined when a run is created. */
interface ConfinedRun {
  readonly folder: string
  /** The user of the program, if it is not the user of this process. */
  readonly user: number | undefined
  readonly filter: Buffer
  readonly withChannel: boolean
  readonly program: string
  readonly argv: readonly string[]
}

const system = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
const settings = ['alternatives', 'ld.so.cache', 'ssl/certs', 'ssl/openssl.cnf', 'ca-certificates', 'localtime']
const networkSettings = ['resolv.conf', 'hosts', 'nsswitch.conf', 'services']
const maxBytes = 99_999_999

type Field = readonly [name: string, value: string]

/** Encodes a policy for the launcher: its length, then names and values separated by NUL bytes. */
export function encodeConfinedPolicy(shape: ConfinedShape, run: ConfinedRun): Buffer {
  const fields: Field[] = [
    ...readableFields(shape),
    ['work', run.folder],
    ...limitFields(shape.limits, run.user),
    ...Object.entries(shape.env).map(([name, value]): Field => ['env', `${name}=${value}`]),
    ...(run.user === undefined ? [] : [['user', String(run.user)] as const]),
    ...(run.withChannel ? [['channel', 'yes'] as const] : []),
    ...(shape.network ? [['network', 'yes'] as const] : []),
    ['filter', run.filter.toString('hex')],
    ['cwd', shape.cwd ?? run.folder],
    ['program', run.program],
    ...run.argv.map((word): Field => ['word', word]),
  ]
  // A NUL byte in a value would add fields.
  if (fields.flat().some((text) => text.includes('\0')))
    throw new TooldexError('INPUT_INVALID', 'An argument or variable contains a NUL byte. Remove it.')
  const body = Buffer.from(fields.flat().join('\0'), 'utf8')
  if (body.length > maxBytes)
    throw new TooldexError('ARGUMENTS_TOO_LONG', 'The arguments are longer than the system allows.')
  return Buffer.concat([Buffer.from(`${String(body.length).padStart(8, '0')}\n`), body])
}

/** The same system paths as in an isolated run, and the folders that the operator allows. */
function readableFields({ mounts, network }: ConfinedShape): readonly Field[] {
  const names = [...settings, 'mime.types', ...(network ? networkSettings : [])]
  return [
    ...system.map((path): Field => ['maybe-run', path]),
    ...names.map((name): Field => ['maybe-read', `/etc/${name}`]),
    ...['zero', 'full', 'random', 'urandom'].map((name): Field => ['maybe-read', `/dev/${name}`]),
    ['device', '/dev/null'],
    ...mounts.map(({ source, writable }): Field => [writable ? 'write' : 'run', source]),
  ]
}

function limitFields(limits: SandboxLimits, user: number | undefined): readonly Field[] {
  const { memoryMb, cpuSeconds, fileMb, openFiles } = limits
  const processes = processLimit(limits, user)
  const wanted: readonly (readonly [string, number, number?])[] = [
    // SIGKILL follows SIGXCPU after a second.
    ['CPU', cpuSeconds, cpuSeconds + 1],
    ['NPROC', processes],
    ['FSIZE', fileMb * mebibyte],
    ['NOFILE', openFiles],
    ['CORE', 0],
    ['AS', memoryMb * mebibyte],
  ]
  return wanted.map(([name, soft, hard = soft]) => ['limit', `RLIMIT_${name} ${soft} ${hard}`])
}

/** Includes the keeper of the run, and the existing threads of a user that is not exclusive to the run. */
function processLimit({ processes }: SandboxLimits, user: number | undefined): number {
  const uid = user ?? process.geteuid?.() ?? 0
  return processes + 1 + (user !== undefined && user >= firstOwnUser ? 0 : countThreadsOfUser(uid))
}

/** User ids from here on belong to no account, so that runs cannot access each other. */
const firstOwnUser = 1_900_000_000
