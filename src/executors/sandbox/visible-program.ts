import { realpathSync } from 'node:fs'
import { TooldexError } from '../../base/errors.ts'
import { findProgram } from '../process/find-program.ts'
import { type Mount, sandboxPath, workFolder } from './bubblewrap-words.ts'
import type { Level } from './levels.ts'
import type { Sandbox } from './sandbox.ts'

const systemPath = /^\/(usr|bin|sbin|lib[0-9x]*)(\/|$)/
const ownPath = /^\/(work|tmp)$/

/** The program that a word names inside a sandbox, and what must be seen there for it to run. */
export function visibleProgram(
  sandbox: Sandbox,
  word: string,
  cwd: string | undefined,
): { program: string; mounts: readonly Mount[] } {
  const program = findProgram(word, { PATH: sandboxPath }, cwd === undefined || ownPath.test(cwd) ? '/' : cwd)
  return { program, mounts: mountsFor(sandbox, [program, realpathSync(program)], 'program') }
}

/** Where a run begins inside a sandbox, which is a fresh folder where absent, and what must be seen there for that. */
export function visibleFolder(
  sandbox: Sandbox,
  level: Level,
  cwd: string | undefined,
): { cwd: string | undefined; mounts: readonly Mount[] } {
  // What is at this place inside a namespace is the same fresh folder elsewhere.
  if (cwd === undefined || ownPath.test(cwd))
    return { cwd: level === 'isolated' ? (cwd ?? workFolder) : undefined, mounts: [] }
  return { cwd, mounts: mountsFor(sandbox, [cwd], 'folder') }
}

/** The variables that every program in a sandbox has; where it lives is known beforehand only in a namespace. */
export const visibleEnv = (level: Level): Record<string, string> =>
  level === 'isolated' ? { PATH: sandboxPath, HOME: workFolder } : { PATH: sandboxPath }

/** The folders that an admin lets tools read, of those that the paths lie in; refused where one lies elsewhere. */
export function mountsFor(sandbox: Sandbox, paths: readonly string[], what: string): readonly Mount[] {
  const folders = paths
    .filter((path) => !systemPath.test(path) && !ownPath.test(path))
    .map((path) => {
      const folder = sandbox.folderOf(path)
      if (folder !== undefined) return folder
      throw new TooldexError('POLICY_REFUSED', `The ${what} ${path} is not visible to tools in a sandbox.`, {
        hint: 'An admin can let them read a folder with --allow-folder or TOOLDEX_ALLOW_FOLDERS.',
      })
    })
  return [...new Set(folders)].map((folder) => ({ source: folder, target: folder }))
}
