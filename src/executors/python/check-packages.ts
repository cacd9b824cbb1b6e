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

/** With `prepare`, installs the packages of a tool or throws the reason; otherwise warns of missing packages. */
export async function checkPackages(
  { config, pointer, prepare, signal }: Check,
  { environments, env }: { readonly environments: Environments; readonly env: Environment },
): Promise<readonly Problem[]> {
  const { dependencies, worker } = PythonConfig.safeParse(config).data ?? {}
  // A tool with a worker label may run on another host.
  if (dependencies === undefined || worker !== undefined || environments.has(dependencies)) return []
  const location = `${pointer}/dependencies`
  const hint = `activation installs them, or: ${buildCommand(dependencies)}`
  if (prepare !== true)
    return [
      { severity: 'warning', pointer: location, message: 'these packages are not installed on this host yet', hint },
    ]
  await environments.build(dependencies, { env, signal })
  return []
}
