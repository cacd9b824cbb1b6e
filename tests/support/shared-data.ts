import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './run-cli.ts'

/** CLImax's published configs, where they lie beside the checkout; a user's clone has none. */
export const climaxConfigs = join(projectRoot, '..', 'shared', 'data', 'climax-configs')
export const hasClimaxConfigs = existsSync(climaxConfigs)

/** The paths of those configs, policies left out. */
export function climaxConfigFiles(): readonly string[] {
  if (!hasClimaxConfigs) return []
  const names = readdirSync(climaxConfigs).filter((name) => name.endsWith('.yaml') && !name.endsWith('.policy.yaml'))
  return names.sort().map((name) => join(climaxConfigs, name))
}

/** Nineteen tools of another project as a JSON list, where they lie beside the checkout. */
export const opsToolsFile = join(projectRoot, '..', 'shared', 'data', 'ops-tools', 'tools.json')
export const hasOpsTools = existsSync(opsToolsFile)
