import { TooldexError } from '../../base/errors.ts'
import { countThreads } from '../process/limit-own-process.ts'
import type { Mount } from './bubblewrap-arguments.ts'
import type { SandboxLimits } from './sandbox-limits.ts'

/** What one confined run may do. */
export interface ConfinedShape {
  readonly limits: SandboxLimits
  readonly network: boolean
  /** Read where they lie: nothing can be shown at another place. */
  readonly mounts: readonly Mount[]
  readonly env: Readonly<Record<string, string>>
  /** Where the program starts; its own folder where absent. */
  readonly cwd?: string | undefined
}

/** What is known only when a run is made. */
export interface ConfinedRun {
  readonly folder: string
  /** Who the program becomes, where that is not us. */
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

/** A policy as the launcher reads it: its length, then names and values with a NUL between. */
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
  // What separates the fields would make new ones.
  if (fields.flat().some((text) => text.includes('\0')))
    throw new TooldexError('INPUT_INVALID', 'A word or variable has a NUL byte, which no program can be given.')
  const body = Buffer.from(fields.flat().join('\0'), 'utf8')
  if (body.length > maxBytes)
    throw new TooldexError('ARGUMENTS_TOO_LONG', 'The arguments are longer than the system allows.')
  return Buffer.concat([Buffer.from(`${String(body.length).padStart(8, '0')}\n`), body])
}

/** The same of the system that an isolated run is shown, and what an admin lets tools read. */
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
    // A second later comes the signal that cannot be caught.
    ['CPU', cpuSeconds, cpuSeconds + 1],
    ['NPROC', processes],
    ['FSIZE', fileMb * mebibyte],
    ['NOFILE', openFiles],
    ['CORE', 0],
    ['AS', memoryMb * mebibyte],
  ]
  return wanted.map(([name, soft, hard = soft]) => ['limit', `RLIMIT_${name} ${soft} ${hard}`])
}

/** The keeper of a run counts too; somebody who is not of the run's own has other threads besides. */
function processLimit({ processes }: SandboxLimits, user: number | undefined): number {
  const uid = user ?? process.geteuid?.() ?? 0
  return processes + 1 + (user !== undefined && user >= firstOwnUser ? 0 : countThreads(uid))
}

/** Numbers from here on belong to no account: each run is a stranger to every other. */
export const firstOwnUser = 1_900_000_000
