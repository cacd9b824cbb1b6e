import { yieldTurns } from '../base/yield-turns.ts'
import type { CompiledTools, LlmFormat, LlmTool, OpenAiFlatDefinition, OpenAiNamespace } from '../contract/llm.ts'
import { toClientName } from '../rules/client-name.ts'
import { apiOf, type CompileOptions, compileTool } from './compile-tool.ts'
import { assignAliases } from './tool-aliases.ts'

/** Options of a list of definitions. */
interface ListOptions extends Omit<CompileOptions, 'alias'> {
  /** Names by tool id, for a list that is one page of a longer one. */
  readonly aliases?: ReadonlyMap<string, string>
  /** Awaited after each tool, so that a long list does not block other work. */
  readonly turn?: (() => Promise<void> | undefined) | undefined
}

/** Definitions of tools under unique names, with a map from name to tool id; each tool is listed once. */
export async function compileTools(
  tools: readonly LlmTool[],
  format: LlmFormat,
  options: ListOptions = {},
): Promise<CompiledTools> {
  const { aliases = assignAliases(tools, format), turn = yieldTurns(), ...each } = options
  const distinct = [...new Map(tools.map((tool) => [tool.id, tool])).values()]
  const compiled: (Entry & CompiledTools['tools'][number])[] = []
  for (const tool of distinct) {
    const alias = aliases.get(tool.id)
    const result = compileTool(tool, format, { ...each, ...(alias === undefined ? {} : { alias }) })
    compiled.push({ tool, id: tool.id, ...result })
    await turn()
  }
  const grouped = format === 'openai' && options.namespaces === true && apiOf(options) === 'responses'
  return {
    definitions: grouped ? groupByNamespace(compiled) : compiled.map(({ definition }) => definition),
    aliases: Object.fromEntries(compiled.map(({ name, id }) => [name, id])),
    tools: compiled.map(({ tool: _, ...rest }) => rest),
  }
}

type Entry = { readonly tool: LlmTool; readonly definition: CompiledTools['definitions'][number] }

/** Groups the tools of a namespace at the position of its first one; tools without a namespace stay ungrouped. */
function groupByNamespace(entries: readonly Entry[]): CompiledTools['definitions'] {
  const groups = new Map<string, OpenAiNamespace>()
  return entries.flatMap(({ tool, definition }) => {
    const namespace = tool.namespace ?? ''
    if (namespace === '') return [definition]
    const existing = groups.get(namespace)
    const group = existing ?? createGroup(namespace)
    groups.set(namespace, group)
    group.tools.push(definition as OpenAiFlatDefinition)
    return existing === undefined ? [group] : []
  })
}

const createGroup = (namespace: string): OpenAiNamespace => ({
  type: 'namespace',
  name: toClientName(namespace),
  description: `Tools of ${namespace}.`,
  tools: [],
})
