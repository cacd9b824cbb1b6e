import { type Environment, expandVariables } from '../../base/expand-variables.ts'
import type { ResolvedTool } from '../../contract/tool-index.ts'
import { isOwnVariable } from '../../rules/settings.ts'
import { isBaseVariable } from '../process/base-environment.ts'

/** The environment that a command inherits from: all of the user's, or the small base of a service. */
export type EnvironmentScope = 'user' | 'service'

/** The environment of a command: inherited as the config allows, without the variables of Tooldex, plus those the config sets. */
export function childEnvironment(
  tool: ResolvedTool,
  parent: Environment,
  scope: EnvironmentScope,
): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(parent)) {
    if (value !== undefined && isInherited(name, tool.tool.inheritEnv, scope) && !isOwnVariable(name)) env[name] = value
  }
  for (const [name, value] of Object.entries(tool.env)) env[name] = expandVariables(value, parent, 'braced').text
  return env
}

function isInherited(name: string, inherit: boolean | readonly string[] | undefined, scope: EnvironmentScope): boolean {
  if (isBaseVariable(name)) return true
  if (typeof inherit === 'object') return inherit.includes(name)
  return scope === 'user' && inherit !== false
}
