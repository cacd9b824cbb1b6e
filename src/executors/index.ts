import type { Problem } from '../base/problem.ts'
import type { ExecutorType } from '../contract/registry.ts'
import { checkCliConfig } from './cli/check-config.ts'
import { checkHttpConfig } from './http/check-config.ts'
import { checkMcpConfig } from './mcp/check-config.ts'
import { checkPythonConfig } from './python/check-config.ts'
import { type CheckScriptOptions, checkScript } from './python/check-script.ts'
import type { CheckConfig } from './read-config.ts'
import { checkShellConfig } from './shell/check-config.ts'

export { loadServers } from './mcp/load-servers.ts'
export { createMcpExecutor } from './mcp/mcp-executor.ts'
export { Environments } from './python/environments.ts'
export { createPythonExecutor } from './python/python-executor.ts'
export { readAllowedFolders, splitFolderList } from './sandbox/allowed-folders.ts'
export { Sandbox } from './sandbox/sandbox.ts'
export { Shield } from './sandbox/shield.ts'
export { defaultWarm } from './sandbox/warm-sandboxes.ts'
export { schemaDefaults } from './schema-defaults.ts'
export { createShellExecutor } from './shell/shell-executor.ts'
export type { CheckScriptOptions }

/** The checks of an executor kind that need no run. */
export interface ExecutorKind {
  readonly checkConfig: CheckConfig
  /** Present for kinds whose tools are scripts. */
  readonly checkScript?: (source: string, options?: CheckScriptOptions) => Promise<readonly Problem[]>
}

/** The checks of every executor kind. */
export const executorKinds: Readonly<Record<ExecutorType, ExecutorKind>> = {
  python: { checkConfig: checkPythonConfig, checkScript },
  shell: { checkConfig: checkShellConfig },
  http: { checkConfig: checkHttpConfig },
  mcp: { checkConfig: checkMcpConfig },
  cli: { checkConfig: checkCliConfig },
}
