import type { Environment } from '../../base/expand-variables.ts'
import type { Problem } from '../../base/problem.ts'
import type { CheckOptions } from '../../contract/executor.ts'
import { PythonConfig } from './check-config.ts'
import { buildCommand } from './dependencies.ts'
import type { Environments } from './environments.ts'

interface Check extends CheckOptions {
  readonly config: unknown
  readonly pointer: string
}

/** Installs the packages of a tool that is about to be offered, or throws the reason why not; reports missing ones of every other tool. */
export async function checkPackages(
  { config, pointer, prepare, signal }: Check,
  { environments, env }: { readonly environments: Environments; readonly env: Environment },
): Promise<readonly Problem[]> {
  const { dependencies, worker } = PythonConfig.safeParse(config).data ?? {}
  // A tool with a label runs on hosts of that label, which may not be this one.
  if (dependencies === undefined || worker !== undefined || environments.has(dependencies)) return []
  const at = `${pointer}/dependencies`
  const hint = `activation installs them, or: ${buildCommand(dependencies)}`
  if (prepare !== true)
    return [{ severity: 'warning', pointer: at, message: 'these packages are not installed on this host yet', hint }]
  await environments.build(dependencies, { env, signal })
  return []
}
