import { existsSync, realpathSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'

interface SelfPlace {
  /** The file that was started. */
  readonly main: string
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** How a client starts this program: by its path, or portably, as a file that is committed must. */
export function selfCommand(portable: boolean, { main, cwd }: Pick<SelfPlace, 'main' | 'cwd'>): readonly string[] {
  if (!portable) return [process.execPath, main]
  return main.startsWith(join(cwd, 'node_modules') + sep) ? ['npx', 'tooldex'] : ['tooldex']
}

/** Whether `tooldex` on PATH is this very program. */
export function isOnPath({ main, env }: Pick<SelfPlace, 'main' | 'env'>): boolean {
  const files = (env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'tooldex'))
  return files.some((file) => existsSync(file) && realpathSync(file) === main)
}
