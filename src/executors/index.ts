import type { Environment } from '../base/expand-variables.ts'
import type { Problem } from '../base/problem.ts'
import type { Executor } from '../contract/executor.ts'
import type { ExecutorKindName, ExecutorType } from '../contract/executor-kinds.ts'
import { checkCliConfig } from './cli/check-config.ts'
import { type CliExecutorOptions, createCliExecutor } from './cli/cli-executor.ts'
import { checkHttpConfig } from './http/check-config.ts'
import { createHttpExecutor } from './http/http-executor.ts'
import { createMcpExecutor, type McpExecutor, type McpExecutorOptions } from './mcp/mcp-executor.ts'
import { checkMcpConfig } from './mcp/server-settings.ts'
import { createProgramExecutor } from './program/program-executor.ts'
import { type CheckScriptOptions, checkPythonConfig, checkPythonScript } from './python/check-python-script.ts'
import type { Environments } from './python/environments.ts'
import { createPythonExecutor } from './python/python-executor.ts'
import type { CheckConfig } from './read-config.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import { checkShellConfig } from './shell/check-config.ts'
import { createShellExecutor } from './shell/shell-executor.ts'

export { createCodeExecutor } from './code/code-executor.ts'
export { loadServers, readServers } from './mcp/server-settings.ts'
export { SignIns } from './mcp/sign-ins.ts'
export type { SourceAccess } from './mcp/source-upstreams.ts'
export { Environments } from './python/environments.ts'
export { readAllowedFolders, splitFolderList } from './sandbox/allowed-folders.ts'
export { Sandbox } from './sandbox/sandbox.ts'
export { Shield } from './sandbox/shield.ts'
export type { CheckScriptOptions, McpExecutor, McpExecutorOptions }
export { createMcpExecutor, createPythonExecutor, createShellExecutor }

/** The parts of a process that executors use. */
export interface ExecutorHost {
  readonly env: Environment
  readonly sandbox: Sandbox
  readonly environments: Environments
  /** The number of warm interpreters. */
  readonly warm?: number | undefined
  /** The settings of commands; a process without them has no executor for commands. */
  readonly commands?: CliExecutorOptions | undefined
  /** The MCP servers; a process without them has no executor for their tools. */
  readonly upstreams?: McpExecutorOptions | undefined
}

/** The code of an executor kind. */
interface ExecutorEntry {
  readonly checkConfig: CheckConfig
  /** Present for kinds whose tools are scripts. */
  readonly checkPythonScript?: (source: string, options?: CheckScriptOptions) => Promise<readonly Problem[]>
  readonly open: (host: ExecutorHost) => Executor | undefined
}

/** The code of every kind of `contract/executor-kinds.ts`. */
export const executors: Readonly<Record<ExecutorType, ExecutorEntry>> = {
  python: { checkConfig: checkPythonConfig, checkPythonScript, open: createPythonExecutor },
  shell: { checkConfig: checkShellConfig, open: createShellExecutor },
  http: { checkConfig: checkHttpConfig, open: createHttpExecutor },
  mcp: { checkConfig: checkMcpConfig, open: ({ upstreams }) => upstreams && createMcpExecutor(upstreams) },
  // No tool is registered with this kind, so there are no configs to check.
  program: { checkConfig: () => [], open: createProgramExecutor },
  cli: { checkConfig: checkCliConfig, open: ({ commands }) => commands && createCliExecutor(commands) },
}

/** Opens an executor of each kind that a process has the parts for. */
export function openExecutorOfEachKind(
  host: ExecutorHost,
  matches: (kind: ExecutorType) => boolean = () => true,
): Partial<Record<ExecutorKindName, Executor>> {
  const kinds = (Object.keys(executors) as ExecutorType[]).filter(matches)
  const opened = kinds.map((kind) => [kind, executors[kind].open(host)] as const)
  return Object.fromEntries(opened.filter(([, executor]) => executor !== undefined))
}
