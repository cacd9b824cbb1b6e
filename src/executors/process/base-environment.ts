import type { Environment } from '../../base/expand-variables.ts'
import { processEnv } from '../../rules/settings.ts'

// The variables that nearly every program needs to find its files and locale.
const base = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'TMPDIR',
  'TZ',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_CTYPE',
])

/** Whether every program inherits a variable. */
export const isBaseVariable = (name: string): boolean => base.has(name)

/** The minimal environment of the programs of a service. */
export function baseEnvironment(parent: Environment): Record<string, string> {
  const entries = Object.entries(parent).filter(([name, value]) => value !== undefined && isBaseVariable(name))
  return Object.fromEntries(entries) as Record<string, string>
}

/** The environment of helper programs that do not run a tool. */
export const helperEnvironment = (): { readonly PATH: string | undefined } => ({ PATH: processEnv.PATH })
