import { realpathSync } from 'node:fs'
import { TooldexError } from '../../base/errors.ts'
import { findProgram } from '../process/find-program.ts'
import { type AllowedFolder, folderOf } from './allowed-folders.ts'
import { type Mount, sandboxPath, workFolder } from './bubblewrap-arguments.ts'
import type { Level } from './level.ts'

const systemPath = /^\/(usr|bin|sbin|lib[0-9x]*)(\/|$)/
const ownPath = /^\/(work|tmp)$/

/** Where a program is looked for. */
interface Lookup {
  readonly cwd: string | undefined
  /** Folders besides those of the system. */
  readonly path?: string | undefined
}

/** The program that a word names inside a sandbox, and what must be seen there for it to run. */
export function visibleProgram(
  folders: readonly AllowedFolder[],
  word: string,
  { cwd, path }: Lookup,
): { program: string; mounts: readonly Mount[] } {
  const PATH = path === undefined ? sandboxPath : `${sandboxPath}:${path}`
  const program = findProgram(word, { PATH }, cwd === undefined || ownPath.test(cwd) ? '/' : cwd)
  return { program, mounts: mountsFor(folders, [program, realpathSync(program)], 'program') }
}

/** Where a run begins inside a sandbox, which is a fresh folder where absent, and what must be seen there for that. */
export function visibleFolder(
  folders: readonly AllowedFolder[],
  level: Level,
  cwd: string | undefined,
): { cwd: string | undefined; mounts: readonly Mount[] } {
  // What is at this place inside a namespace is the same fresh folder elsewhere.
  if (cwd === undefined || ownPath.test(cwd))
    return { cwd: level === 'isolated' ? (cwd ?? workFolder) : undefined, mounts: [] }
  return { cwd, mounts: mountsFor(folders, [cwd], 'folder') }
}

/** The variables that every program in a sandbox has; where it lives is known beforehand only in a namespace. */
export const visibleEnv = (level: Level): Record<string, string> =>
  level === 'isolated' ? { PATH: sandboxPath, HOME: workFolder } : { PATH: sandboxPath }

/** Whether a path is part of every sandbox. */
export const isAlwaysVisible = (path: string): boolean => systemPath.test(path) || ownPath.test(path)

/** The allowed folders that the paths lie in; refused where one lies elsewhere. */
export function mountsFor(folders: readonly AllowedFolder[], paths: readonly string[], what: string): readonly Mount[] {
  const found = paths
    .filter((path) => !isAlwaysVisible(path))
    .map((path) => {
      const folder = folderOf(path, folders)
      if (folder !== undefined) return folder
      throw new TooldexError('POLICY_REFUSED', `The ${what} ${path} is not visible to tools on this server.`, {
        hint: allowHint(what === 'program' ? path.replace(/\/[^/]*$/, '') : path),
      })
    })
  return toMounts(found)
}

/** How a folder is allowed; `ofFile` is the one to allow where the first is a file. */
export function allowHint(folder: string, ofFile?: string): string {
  const other = ofFile === undefined ? '' : `, or ${ofFile} if that is a file`
  return `Its operator can allow a folder: tooldex serve --allow-folder ${folder}${other} (with :rw behind it to let tools write).`
}

/** Folders as a sandbox shows them: at the place where they lie. */
export const toMounts = (folders: readonly AllowedFolder[]): readonly Mount[] =>
  [...new Set(folders)].map(({ path, writable }) => ({ source: path, target: path, writable }))

/** Each target once. */
export const mergeMounts = (mounts: readonly Mount[]): readonly Mount[] => [
  ...new Map(mounts.map((mount) => [mount.target, mount])).values(),
]
