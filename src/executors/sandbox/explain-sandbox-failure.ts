import { resolve } from 'node:path'
import { toOneLine } from '../../base/invisible-characters.ts'
import type { Job } from '../../contract/executor.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { type AllowedFolder, folderOf } from './allowed-folders.ts'
import { allowFolderHint, isAlwaysVisible } from './visible-program.ts'

/** The parts of the machine that were visible to a command. */
interface Visible {
  readonly input: Job['input']
  readonly folders: readonly AllowedFolder[]
  /** Folders that the operator allows and the tool does not name. */
  readonly unnamed?: readonly AllowedFolder[] | undefined
  readonly cwd: string | undefined
  readonly network: boolean
  /** Whether the tool requests network access. */
  readonly wantsNetwork: boolean
}

/** Adds the restriction of the sandbox that probably caused a failure, and the flag that lifts it. */
export function explainSandboxFailure(outcome: RunOutcome, visible: Visible): RunOutcome {
  if (outcome.status !== 'FAILED') return outcome
  const reason = findReason(outcome.result.stderr, visible)
  return reason === undefined ? outcome : { ...outcome, errorMessage: `${outcome.errorMessage ?? ''}. ${reason}` }
}

const missing =
  /no such file|not found|cannot (?:access|open|stat|find)|not a git repository|does not exist|not readable/i
const readOnly = /read-only file system|permission denied|not permitted/i

function findReason(stderr: string, visible: Visible): string | undefined {
  const { input, folders, unnamed = [], cwd, network, wantsNetwork } = visible
  const hidden = pathsOf(input, cwd).find((path) => !isVisible(path, folders))
  if (hidden !== undefined) return `${toOneLine(hidden).slice(0, 200)} ${hiddenReason(hidden, unnamed)}`
  const closed = readOnly.test(stderr) ? folders.find(({ writable }) => !writable) : undefined
  if (closed !== undefined) return `Tools may only read ${closed.path} on this server. ${allowFolderHint(closed.path)}`
  if (wantsNetwork && !network)
    return 'Tools have no network on this server. Its operator can allow it: tooldex serve --allow-network'
  if (folders.length + unnamed.length > 0 || !missing.test(stderr)) return undefined
  return `No folder of this machine is visible to tools on this server. ${allowFolderHint('PATH')}`
}

function hiddenReason(path: string, unnamed: readonly AllowedFolder[]): string {
  const folder = folderOf(path, unnamed)
  if (folder !== undefined) return `is not visible to this tool. Name ${folder.path} as cwd or in paths of the tool.`
  return `is not visible to tools on this server. ${allowFolderHint(...foldersFor(path))}`
}

/** Values that are paths of the machine: absolute ones, and those that lead out of the working folder. */
function pathsOf(input: Job['input'], cwd = '/work'): readonly string[] {
  const texts = Object.values(input)
    .flat()
    .filter((value) => typeof value === 'string')
  return texts.filter((text) => /^(?:\/|~\/|\.\.(?:\/|$))/.test(text)).map((text) => resolve(cwd, text))
}

const isVisible = (path: string, folders: readonly AllowedFolder[]): boolean =>
  isAlwaysVisible(path) || /^\/(?:dev(?!\/shm\/)|proc)(?:\/|$)/.test(path) || folderOf(path, folders) !== undefined

/**
 * The folder to allow: a path with an extension is taken for a file. Any other may be a file, too, and whether it is one
 * on this machine must not be revealed to callers.
 */
function foldersFor(path: string): [folder: string, ofFile?: string] {
  const above = path.replace(/\/[^/]+$/, '')
  if (above === '') return [path]
  return /\/[^/]+\.[^/]+$/.test(path) ? [above] : [path, above]
}
