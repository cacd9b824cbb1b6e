import { resolve } from 'node:path'
import { toOneLine } from '../../base/visible-text.ts'
import type { Job } from '../../contract/executor.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { type AllowedFolder, folderOf } from '../sandbox/allowed-folders.ts'
import { allowHint, isAlwaysVisible } from '../sandbox/visible-program.ts'

/** What a command saw of the machine. */
interface Seen {
  readonly job: Job
  readonly folders: readonly AllowedFolder[]
  readonly cwd: string | undefined
  readonly network: boolean
}

/** Adds to a failure what the sandbox kept from the command, and the flag that allows it. */
export function explainFailure(outcome: RunOutcome, seen: Seen): RunOutcome {
  if (outcome.status !== 'FAILED') return outcome
  const reason = findReason(outcome.result.stderr, seen)
  return reason === undefined ? outcome : { ...outcome, errorMessage: `${outcome.errorMessage ?? ''}. ${reason}` }
}

const missing =
  /no such file|not found|cannot (?:access|open|stat|find)|not a git repository|does not exist|not readable/i
const readOnly = /read-only file system|permission denied|not permitted/i

function findReason(stderr: string, { job, folders, cwd, network }: Seen): string | undefined {
  const hidden = pathsOf(job.input, cwd).find((path) => !isVisible(path, folders))
  if (hidden !== undefined)
    return `${toOneLine(hidden).slice(0, 200)} is not visible to tools on this server. ${allowHint(folderFor(hidden))}`
  const closed = readOnly.test(stderr) ? folders.find(({ writable }) => !writable) : undefined
  if (closed !== undefined) return `Tools may only read ${closed.path} on this server. ${allowHint(closed.path)}`
  if (job.tool.resolved?.tool.network === true && !network)
    return 'Tools have no network on this server. Its operator can allow it: tooldex serve --allow-network'
  if (folders.length > 0 || !missing.test(stderr)) return undefined
  return `No folder of this machine is visible to tools on this server. ${allowHint('PATH')}`
}

/** Values that name a place of the machine: absolute ones, and those that lead out of the folder they start from. */
function pathsOf(input: Job['input'], cwd = '/work'): readonly string[] {
  const texts = Object.values(input)
    .flat()
    .filter((value) => typeof value === 'string')
  return texts.filter((text) => /^(?:\/|~\/|\.\.(?:\/|$))/.test(text)).map((text) => resolve(cwd, text))
}

const isVisible = (path: string, folders: readonly AllowedFolder[]): boolean =>
  isAlwaysVisible(path) || /^\/(?:dev(?!\/shm\/)|proc)(?:\/|$)/.test(path) || folderOf(path, folders) !== undefined

/** A path with an extension is taken for a file. */
const folderFor = (path: string): string => (/\/[^/]+\.[^/]+$/.test(path) ? path.replace(/\/[^/]+$/, '') || '/' : path)
