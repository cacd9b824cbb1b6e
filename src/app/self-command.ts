import { existsSync } from 'node:fs'
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

/** Whether there is a `tooldex` on PATH: this program, or what somebody wrote to start it. */
export function isOnPath({ env }: Pick<SelfPlace, 'env'>): boolean {
  return (env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'tooldex')))
}
