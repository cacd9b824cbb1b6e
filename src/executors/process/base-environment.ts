import type { Environment } from '../../base/expand-variables.ts'

// What nearly every program needs to find its files and speak its language.
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

/** Whether a variable is one that every program gets. */
export const isBaseVariable = (name: string): boolean => base.has(name)

/** The small environment that a program of a service starts from. */
export function baseEnvironment(parent: Environment): Record<string, string> {
  const known = Object.entries(parent).filter(([name, value]) => value !== undefined && isBaseVariable(name))
  return Object.fromEntries(known) as Record<string, string>
}
