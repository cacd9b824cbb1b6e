import { toPointer } from '../base/problem.ts'
import { yieldTurns } from '../base/yield-turns.ts'
import type {
  CompiledTool,
  CompiledTools,
  LlmDefinition,
  LlmFormat,
  LlmTool,
  Loss,
  OpenAiFlatDefinition,
  OpenAiNamespace,
} from '../contract/llm.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { cutText } from '../rules/cut-text.ts'
import { toClientName } from '../rules/tool-id.ts'
import { type CompiledSchema, compileDefinition } from './convert-schema.ts'
import { maxDescriptionLength } from './dialects.ts'
import { allowsOthers, isWithinRootLimits, mayBeObject, onlyObjects, wrapperName } from './shape-root.ts'

/** Options of definitions. */
export interface CompileOptions {
  /** Leaves the tool out of the prompt until the provider's own tool search finds it (Anthropic, OpenAI); costs a search. */
  readonly deferLoading?: boolean
  /** Groups tools by namespace (OpenAI, lists only). */
  readonly namespaces?: boolean
  /** The API of OpenAI; default `responses` with `deferLoading` or `namespaces`, which only it supports, else `chat`. */
  readonly openaiApi?: 'chat' | 'responses'
  /** Number of example requests to append to the description; each costs its tokens. Default 0. */
  readonly exampleRequests?: number
  /** The name to use; default the best of `aliasCandidates`. */
  readonly alias?: string
  /** The number of schemas and steps after which OutOfBudget is thrown. */
  readonly maxWork?: number
}

interface Parts {
  readonly tool: LlmTool
  readonly name: string
  readonly description: string
  readonly compiled: CompiledSchema
  readonly options: CompileOptions
}

/** The definition of a tool for a provider, and its losses. */
export function compileTool(tool: LlmTool, format: LlmFormat, options: CompileOptions = {}): CompiledTool {
  const compiled = compileDefinition(tool.inputSchema, format, options.maxWork)
  const text = describe(tool, options.exampleRequests ?? 0)
  const description = cutText(text, maxDescriptionLength[format])
  const name = options.alias ?? aliasCandidates(tool, format)[0] ?? tool.name
  const losses = [
    ...inInput(compiled.losses),
    ...(omitsSchema(format, compiled.schema) ? inInput(lossesOfEmpty(compiled.schema)) : []),
    ...lossesOfTexts(text, description, format),
    ...lossesOfOutput(tool, format),
    ...lossesOfAnnotations(tool, format),
  ]
  const definition = definers[format]({ tool, name, description, compiled, options })
  return { name, definition, losses, ...(compiled.isWrapped ? { wrappedAs: wrapperName } : {}) }
}

function describe({ description, exampleRequests }: LlmTool, maxExamples: number): string {
  const examples = (exampleRequests ?? []).slice(0, maxExamples)
  return examples.length === 0 ? description : `${description}\nFor requests such as:\n- ${examples.join('\n- ')}`
}

const definers: Record<LlmFormat, (parts: Parts) => LlmDefinition> = {
  mcp: ({ tool, name, description, compiled }) => ({
    name,
    ...(tool.displayName === undefined ? {} : { title: tool.displayName }),
    description,
    inputSchema: compiled.schema,
    ...mcpOutputSchema(tool),
    ...(Object.keys(tool.annotations ?? {}).length === 0 ? {} : { annotations: structuredClone(tool.annotations) }),
    ...(tool.icons === undefined ? {} : { icons: structuredClone(tool.icons) }),
    ...(tool._meta === undefined ? {} : { _meta: structuredClone(tool._meta) }),
  }),
  openai: ({ name, description, compiled, options }) => {
    const definition = { name, description, parameters: compiled.schema, strict: compiled.isStrict }
    if (apiOf(options) === 'chat') return { type: 'function' as const, function: definition }
    return { type: 'function' as const, ...definition, ...deferred(options) }
  },
  anthropic: ({ name, description, compiled, options }) => ({
    name,
    description,
    input_schema: compiled.schema,
    ...deferred(options),
  }),
  gemini: ({ name, description, compiled: { schema } }) => ({
    name,
    description,
    ...(omitsSchema('gemini', schema) ? {} : { parameters: schema }),
  }),
}

/** Whether the schema is omitted, because Gemini rejects an object schema without properties. */
const omitsSchema = (format: LlmFormat, { properties = {} }: JsonSchema) =>
  format === 'gemini' && Object.keys(properties as object).length === 0

/** The API of OpenAI that the definitions are for. */
const apiOf = ({ openaiApi, deferLoading, namespaces }: CompileOptions) =>
  openaiApi ?? (deferLoading === true || namespaces === true ? 'responses' : 'chat')

const deferred = (options: CompileOptions) => (options.deferLoading === true ? { defer_loading: true as const } : {})

/** Losses of an input schema with pointers from the tool. */
export const inInput = (losses: readonly Loss[]): Loss[] =>
  losses.map((loss) => ({ ...loss, pointer: `/inputSchema${loss.pointer}` }))

/** The loss of a truncated description. */
function lossesOfTexts(whole: string, kept: string, format: LlmFormat): Loss[] {
  if (whole === kept) return []
  const why = `The end is cut off: at most ${maxDescriptionLength[format]} characters are allowed.`
  return [{ pointer: '/description', lost: 'description', why }]
}

/** Only MCP supports annotations; a title is for people, so omitting it is not a loss to a model. */
function lossesOfAnnotations({ annotations = {} }: LlmTool, format: LlmFormat): Loss[] {
  if (format === 'mcp') return []
  const hints = Object.keys(annotations).filter((name) => name !== 'title' && annotations[name] !== undefined)
  return hints.map((lost) => ({
    pointer: toPointer(['annotations', lost]),
    lost,
    why: 'The definition does not support annotations.',
  }))
}

/** The losses of an output schema. */
function lossesOfOutput(tool: LlmTool, format: LlmFormat): Loss[] {
  const { outputSchema = {} } = tool
  if (Object.keys(outputSchema).length === 0) return []
  const lose = (pointer: string, lost: string, why: string): Loss[] => [{ pointer, lost, why }]
  if (format !== 'mcp') return lose('/outputSchema', 'outputSchema', whyNoOutput[format])
  if (!('outputSchema' in mcpOutputSchema(tool))) {
    const why = 'MCP supports it only for results that are objects, and up to a limited size.'
    return lose('/outputSchema', 'outputSchema', why)
  }
  return allowsOthers(outputSchema) ? lose('/outputSchema/type', 'type', onlyObjects) : []
}

const whyNoOutput = {
  openai: 'The definition does not support it.',
  anthropic: 'The definition does not support it.',
  gemini: 'Not all APIs of Gemini accept it in a declaration.',
}

/** The output schema for MCP, if it allows objects. */
function mcpOutputSchema({ outputSchema = {} }: LlmTool): { outputSchema?: JsonSchema } {
  if (Object.keys(outputSchema).length === 0 || !mayBeObject(outputSchema) || !isWithinRootLimits(outputSchema))
    return {}
  return { outputSchema: { ...structuredClone(outputSchema), type: 'object' } }
}

/** The loss of a schema without arguments, which Gemini does not accept. */
function lossesOfEmpty(schema: JsonSchema): Loss[] {
  if (Object.keys(schema).every((key) => key === 'type' || key === 'properties')) return []
  const why = 'Gemini accepts no schema without arguments, so its other keywords are lost.'
  return [{ pointer: '', lost: 'schema', why }]
}

/** Options of a list of definitions. */
interface ListOptions extends Omit<CompileOptions, 'alias'> {
  /** Names by tool id, for a list that is one page of a longer one. */
  readonly aliases?: ReadonlyMap<string, string>
  /** Compiles one tool, for example in a worker thread; default on this one. */
  readonly compile?: (tool: LlmTool, format: LlmFormat, options: CompileOptions) => Promise<CompiledTool>
  /** Awaited after each tool, so that a long list does not block other work. */
  readonly turn?: (() => Promise<void> | undefined) | undefined
}

/** Definitions of tools under unique names, with a map from name to tool id; each tool is listed once. */
export async function compileTools(
  tools: readonly LlmTool[],
  format: LlmFormat,
  options: ListOptions = {},
): Promise<CompiledTools> {
  const { aliases = assignAliases(tools, format), turn = yieldTurns(), compile = compileTool, ...each } = options
  const distinct = [...new Map(tools.map((tool) => [tool.id, tool])).values()]
  const compiled: (Entry & CompiledTools['tools'][number])[] = []
  for (const tool of distinct) {
    const alias = aliases.get(tool.id)
    const result = await compile(tool, format, { ...each, ...(alias === undefined ? {} : { alias }) })
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

type Named = Pick<LlmTool, 'id' | 'name' | 'namespace'>

/** The names of a tool in a list for a provider, best first; the last one has a hash and does not depend on the list. */
export function aliasCandidates({ name, namespace }: Omit<Named, 'id'>, format: LlmFormat): readonly string[] {
  const hasNamespace = namespace != null && namespace !== ''
  const readable = [name, ...(hasNamespace ? [`${namespace}_${name}`] : [])]
    .map((text) => text.replace(/[^A-Za-z0-9_-]+/g, '_'))
    .filter((text) => fits(text, format))
  return [...new Set([...readable, toProviderName(hasNamespace ? `${namespace}:${name}` : name, format)])]
}

/** Assigns a distinct alias to each tool, by id, independent of the order of the list. */
export function assignAliases(tools: readonly Named[], format: LlmFormat): Map<string, string> {
  const distinct = [...new Map(tools.map((tool) => [tool.id, tool])).values()]
  const nameCounts = new Map<string, number>()
  for (const { name } of distinct) nameCounts.set(name, (nameCounts.get(name) ?? 0) + 1)
  const aliases = new Map<string, string>()
  const taken = new Set<string>()
  const assign = (tool: Named, alias: string) => {
    taken.add(alias)
    aliases.set(tool.id, alias)
  }
  const sorted = distinct.sort((one, other) => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0))
  // A unique name belongs to its tool; no other alias may equal the name of a tool.
  const keepsName = ({ name }: Named) => nameCounts.get(name) === 1 && fits(name, format)
  for (const tool of sorted) if (keepsName(tool)) assign(tool, tool.name)
  const isFree = (alias: string) => !taken.has(alias) && !nameCounts.has(alias)
  for (const tool of sorted) {
    if (keepsName(tool)) continue
    let alias = aliasCandidates(tool, format).find(isFree)
    for (let count = 1; alias === undefined; count += 1) {
      const hashed = toProviderName(`${tool.namespace ?? ''}:${tool.name}:${tool.id}:${count}`, format)
      if (isFree(hashed)) alias = hashed
    }
    assign(tool, alias)
  }
  return aliases
}

const fits = (name: string, format: LlmFormat) => toProviderName(name, format) === name

/** Gemini requires a letter or an underscore first. */
function toProviderName(name: string, format: LlmFormat): string {
  const alias = toClientName(name)
  return format === 'gemini' && !/^[A-Za-z_]/.test(alias) ? toClientName(`tool:${name}`) : alias
}
