import { toMcpAnnotations } from '../contract/catalog.ts'
import type { RunnableTool } from '../contract/executor.ts'
import type { ToolRule } from '../contract/policy.ts'
import type { RegisteredTool } from '../contract/registry.ts'
import type { ResolvedTool } from '../contract/tool-index.ts'

/** Converts a tool of a config. */
export const fromConfig = (resolved: ResolvedTool, config?: string): RunnableTool => ({
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
})

/** Converts a registered tool, with the bounds of the policy rules. */
export function toRunnableTool(tool: RegisteredTool, rules: readonly ToolRule[] = []): RunnableTool {
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
    annotations: toMcpAnnotations(annotations),
    constraints: rules.map(({ args }) => args),
  }
}
