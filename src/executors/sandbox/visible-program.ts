import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { followLinks } from '../process/check-path.ts'
import { findProgram } from '../process/find-program.ts'
import { type AllowedFolder, folderOf } from './allowed-folders.ts'
import { type Mount, sandboxPath, workFolder } from './bubblewrap-arguments.ts'
import type { Level } from './sandbox-config.ts'

const systemPath = /^\/(usr|bin|sbin|lib[0-9x]*)(\/|$)/
const ownPath = /^\/(work|tmp)$/

/** The search path of a program. */
interface Lookup {
  readonly cwd: string | undefined
  /** Folders besides those of the system. */
  readonly path?: string | undefined
}

/**
 * The program of a command inside a sandbox, and the mounts that it needs. A file outside of the visible folders is not looked
 * at: the errors about it would reveal files of the machine.
 */
export function visibleProgram(
  folders: readonly AllowedFolder[],
  word: string,
  { cwd, path }: Lookup,
): { program: string; mounts: readonly Mount[] } {
  const PATH = path === undefined ? sandboxPath : `${sandboxPath}:${path}`
  const base = cwd === undefined || ownPath.test(cwd) ? '/' : cwd
  if (word.includes('/')) mountsForPaths(folders, [resolve(base, word)], 'program')
  const program = findProgram(word, { PATH }, base)
  return { program, mounts: mountsForPaths(folders, [program, realpathSync(program)], 'program') }
}

/** The working folder inside a sandbox, a fresh one where absent, and the mounts that it needs. */
export function visibleFolder(
  folders: readonly AllowedFolder[],
  level: Level,
  cwd: string | undefined,
): { cwd: string | undefined; mounts: readonly Mount[] } {
  // Without a mount namespace, the work folder has another path.
  if (cwd === undefined || ownPath.test(cwd))
    return { cwd: level === 'isolated' ? (cwd ?? workFolder) : undefined, mounts: [] }
  return { cwd, mounts: mountsForPaths(folders, [cwd], 'folder') }
}

/** The variables of every program in a sandbox; the home is known in advance only in a mount namespace. */
export const visibleEnv = (level: Level): Record<string, string> =>
  level === 'isolated' ? { PATH: sandboxPath, HOME: workFolder } : { PATH: sandboxPath }

/** Whether a path is part of every sandbox. */
export const isAlwaysVisible = (path: string): boolean => systemPath.test(path) || ownPath.test(path)

/** The mounts for paths in allowed folders; throws if a path is in none. */
export function mountsForPaths(
  folders: readonly AllowedFolder[],
  paths: readonly string[],
  what: string,
): readonly Mount[] {
  const found = paths
    .filter((path) => !isAlwaysVisible(path))
    .map((path) => {
      const folder = folderOf(path, folders)
      if (folder !== undefined) return folder
      throw notVisible(what, path)
    })
  return toMounts(found)
}

/** The folder that a path leads to inside a sandbox. Nothing is revealed about a path elsewhere, not even whether it exists. */
export function visibleTarget(folders: readonly AllowedFolder[], path: string, spelling = path): string {
  if (ownPath.test(path)) return path
  const target = resolveExistingPath(path)
  if (target !== undefined && (isAlwaysVisible(target) || folderOf(target, folders) !== undefined)) return target
  throw notVisible('folder', spelling)
}

/** The path with its links followed, as far as it exists; undefined if it cannot be resolved. */
export function resolveExistingPath(path: string): string | undefined {
  try {
    return followLinks(path)
  } catch {
    return undefined
  }
}

function notVisible(what: string, path: string): TooldexError {
  const folder = what === 'program' ? path.replace(/\/[^/]*$/, '') : path
  return new TooldexError(
    'POLICY_REFUSED',
    `The ${what} ${toOneLine(path).slice(0, 200)} is not visible to tools on this server.`,
    { hint: allowFolderHint(isAbsolute(folder) ? toOneLine(folder).slice(0, 200) : 'PATH') },
  )
}

/** The hint to allow a folder; `ofFile` is the alternative if the first is a file. */
export function allowFolderHint(folder: string, ofFile?: string): string {
  const other = ofFile === undefined ? '' : `, or ${ofFile} if that is a file`
  return `Its operator can allow a folder: tooldex serve --allow-folder ${folder}${other} (append :rw to let tools write).`
}

/** Mounts of folders at their own paths. */
export const toMounts = (folders: readonly AllowedFolder[]): readonly Mount[] =>
  [...new Set(folders)].map(({ path, writable }) => ({ source: path, target: path, writable }))

/** Removes duplicate targets; the last mount wins. */
export const mergeMounts = (mounts: readonly Mount[]): readonly Mount[] => [
  ...new Map(mounts.map((mount) => [mount.target, mount])).values(),
]

/** The mounts of a Python interpreter: none for that of the system, else its installation folder. */
export function interpreterMounts(python: string): readonly Mount[] {
  const found = [python, realpathSync(python)].filter((path) => !/^\/(usr|bin|lib)\//.test(path))
  const folders = new Set(found.map((path) => prefixOf(dirname(path))))
  return [...folders].map((folder) => ({ source: folder, target: folder }))
}

/** The installation folder: the parent of `bin`, or the folder of the program itself. */
const prefixOf = (folder: string): string => (basename(folder) === 'bin' ? dirname(folder) : folder)
