import { existsSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'

interface SelfLocation {
  /** The script that was started. */
  readonly main: string
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** The command that starts this program: by its path, or portable, for files that are committed. */
export function selfCommand(portable: boolean, { main, cwd }: Pick<SelfLocation, 'main' | 'cwd'>): readonly string[] {
  if (!portable) return [process.execPath, main]
  return main.startsWith(join(cwd, 'node_modules') + sep) ? ['npx', 'tooldex'] : ['tooldex']
}

/** Whether there is a `tooldex` on PATH: this program or a wrapper. */
export function isOnPath({ env }: Pick<SelfLocation, 'env'>): boolean {
  return (env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'tooldex')))
}
