import { resolve } from 'node:path'
import { type Environment, expandHome, expandVariables } from '../../base/expand-variables.ts'
import { type ArgDef, itemType } from '../../contract/cli-config.ts'
import type { ArgValues } from '../../contract/executor.ts'
import { checkPath } from '../process/check-path.ts'

/** The base and the boundary of the paths of a call. */
interface PathBounds {
  readonly cwd: string
  /** The root of an argument that has none of its own. */
  readonly root?: string | undefined
  readonly env: Environment
  /** Throws if a folder cannot be the boundary of paths. */
  readonly requireVisible: (folder: string) => void
}

/** Rejects a path argument that leads out of its root, after following links. */
export function checkPaths(
  args: readonly ArgDef[],
  values: ArgValues,
  { cwd, root, env, requireVisible }: PathBounds,
): void {
  for (const arg of args) {
    const value = values.get(arg.name)
    if (value === undefined || (itemType(arg) !== 'path' && !(arg.cwd && root !== undefined))) continue
    // The working folder is relative to the folder of this process; all other paths are relative to the working folder.
    const from = arg.cwd ? process.cwd() : cwd
    const bound = arg.root === undefined ? root : resolve(from, expandHome(expandVariables(arg.root, env).text, env))
    if (bound === undefined) continue
    requireVisible(bound)
    for (const item of arg.cwd ? [cwd] : [value].flat()) checkPath(arg.name, String(item), bound, from)
  }
}
