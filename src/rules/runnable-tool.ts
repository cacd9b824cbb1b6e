import { toMcpNames } from '../contract/annotations.ts'
import type { RunnableTool } from '../contract/executor.ts'
import type { ToolRule } from '../contract/policy.ts'
import type { RegisteredTool } from '../contract/registry.ts'
import type { ResolvedTool } from '../contract/tool-index.ts'

const cache = new WeakMap<ResolvedTool, RunnableTool>()

/** Converts a tool of a config. */
export function fromConfig(resolved: ResolvedTool, config?: string): RunnableTool {
  const cached = cache.get(resolved)
  if (cached !== undefined) return cached
  const tool: RunnableTool = {
    name: resolved.tool.name,
    id: null,
    version: null,
    executorType: 'cli',
    executorConfig: {},
    scriptContent: null,
    inputSchema: null,
    outputSchema: {},
    annotations: resolved.tool.annotations ?? {},
    constraints: [resolved.argConstraints],
    resolved,
    config,
  }
  cache.set(resolved, tool)
  return tool
}

/** Converts a registered tool, with the bounds of the policy rules. */
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
