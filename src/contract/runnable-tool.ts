import { toMcpNames } from './annotations.ts'
import { toHints } from './cli-config.ts'
import type { RunnableTool } from './executor.ts'
import type { ToolRule } from './policy.ts'
import type { RegisteredTool } from './registry.ts'
import type { ResolvedTool } from './tool-index.ts'

const known = new WeakMap<ResolvedTool, RunnableTool>()

/** A tool of a config, to be run. */
export function fromConfig(resolved: ResolvedTool, config?: string): RunnableTool {
  const seen = known.get(resolved)
  if (seen !== undefined) return seen
  const tool: RunnableTool = {
    name: resolved.tool.name,
    id: null,
    version: null,
    executorType: 'cli',
    executorConfig: {},
    scriptContent: null,
    inputSchema: null,
    outputSchema: {},
    annotations: toHints(resolved.tool.annotations ?? {}),
    constraints: [resolved.argConstraints],
    resolved,
    config,
  }
  known.set(resolved, tool)
  return tool
}

/** A registered tool, to be run under the rules of policies. */
export function fromRegistry(tool: RegisteredTool, rules: readonly ToolRule[] = []): RunnableTool {
  const { id, name, version, executorType, executorConfig, scriptContent, inputSchema, outputSchema, annotations } =
    tool
  return {
    id,
    name,
    version,
    executorType,
    executorConfig,
    scriptContent,
    inputSchema,
    outputSchema,
    annotations: toMcpNames(annotations),
    constraints: rules.map(({ args }) => args),
  }
}
