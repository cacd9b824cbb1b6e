import { TooldexError } from '../../base/errors.ts'
import { countThreads } from '../process/limit-own-process.ts'
import type { Mount } from './bubblewrap-arguments.ts'
import type { SandboxLimits } from './sandbox-limits.ts'

/** The settings of one confined run. */
export interface ConfinedShape {
  readonly limits: SandboxLimits
  readonly network: boolean
  /** Without a mount namespace, a target must equal its source. */
  readonly mounts: readonly Mount[]
  readonly env: Readonly<Record<string, string>>
  /** The working folder; the work folder of the run where absent. */
  readonly cwd?: string | undefined
}

/** The values that are determined when a run is created. */
export interface ConfinedRun {
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
const mebibyte = 1024 ** 2
const maxBytes = 99_999_999

type Field = readonly [name: string, value: string]

/** Encodes a policy for the launcher: its length, then names and values separated by NUL bytes. */
export function encodePolicy(shape: ConfinedShape, run: ConfinedRun): Buffer {
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
  return processes + 1 + (user !== undefined && user >= firstOwnUser ? 0 : countThreads(uid))
}

/** User ids from here on belong to no account, so that runs cannot access each other. */
export const firstOwnUser = 1_900_000_000
