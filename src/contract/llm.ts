import * as z from 'zod'
import { asStored } from './as-stored.ts'
import { CatalogTool, ToolAnnotations } from './catalog.ts'

const Json = z.record(z.string(), z.unknown())

/** The target formats of definitions. */
export const LlmFormat = z.enum(['mcp', 'openai', 'anthropic', 'gemini'])
export type LlmFormat = z.infer<typeof LlmFormat>

/** The input of a compilation: the fields of a tool that a model reads. */
export const LlmTool = z.object({
  id: z.string(),
  name: z.string(),
  namespace: z.string().nullish(),
  version: z.union([z.string(), z.int()]).optional(),
  displayName: z.string().optional(),
  description: z.string(),
  inputSchema: Json,
  outputSchema: Json.optional(),
  annotations: ToolAnnotations.optional(),
  icons: CatalogTool.shape.icons,
  _meta: Json.optional(),
  tags: z.array(z.string()).optional(),
  exampleRequests: z.array(z.string()).optional(),
})
export type LlmTool = z.infer<typeof LlmTool>

/** A part of a stored tool that a definition cannot express. */
export const Loss = z.object({
  pointer: z.string().describe('JSON pointer into the stored tool, such as /inputSchema/properties/city/format.'),
  lost: z.string().describe('The keyword, annotation or construct.'),
  why: z.string(),
})
export type Loss = z.infer<typeof Loss>

/** A tool as MCP lists it. */
export const McpDefinition = z.strictObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string(),
  inputSchema: Json,
  outputSchema: Json.optional(),
  annotations: asStored(ToolAnnotations).optional(),
  icons: asStored(z.array(z.looseObject({ src: z.string() }))).optional(),
  _meta: Json.optional(),
})
export type McpDefinition = z.infer<typeof McpDefinition>

const OpenAiFunction = z.strictObject({
  name: z.string(),
  description: z.string(),
  parameters: Json,
  strict: z.boolean(),
})

/** A function of the OpenAI Chat Completions API. */
export const OpenAiChatDefinition = z.strictObject({ type: z.literal('function'), function: OpenAiFunction })
export type OpenAiChatDefinition = z.infer<typeof OpenAiChatDefinition>

/** A function of the OpenAI Responses API, the only one of the two with deferred loading. */
export const OpenAiFlatDefinition = OpenAiFunction.extend({
  type: z.literal('function'),
  defer_loading: z.literal(true).optional(),
})
export type OpenAiFlatDefinition = z.infer<typeof OpenAiFlatDefinition>

/** A group of functions that the OpenAI Responses API lists and searches together. */
export const OpenAiNamespace = z.strictObject({
  type: z.literal('namespace'),
  name: z.string(),
  description: z.string(),
  tools: z.array(OpenAiFlatDefinition),
})
export type OpenAiNamespace = z.infer<typeof OpenAiNamespace>

/** A tool of the Anthropic Messages API. */
export const AnthropicDefinition = z.strictObject({
  name: z.string(),
  description: z.string(),
  input_schema: Json,
  defer_loading: z.literal(true).optional(),
})
export type AnthropicDefinition = z.infer<typeof AnthropicDefinition>

/** A function declaration of Gemini; one without parameters has none. */
export const GeminiDefinition = z.strictObject({
  name: z.string(),
  description: z.string(),
  parameters: Json.optional(),
})
export type GeminiDefinition = z.infer<typeof GeminiDefinition>

/** The definition of one tool, in the shape of its provider. */
export const LlmDefinition = z.union([
  OpenAiChatDefinition,
  OpenAiFlatDefinition,
  McpDefinition,
  AnthropicDefinition,
  GeminiDefinition,
])
export type LlmDefinition = z.infer<typeof LlmDefinition>

/** The compilation result of one tool. */
export const CompiledTool = z.object({
  name: z.string(),
  definition: LlmDefinition,
  losses: z.array(Loss),
  /** Where the stored schema is not an object schema: the name of the argument that contains the value. */
  wrappedAs: z.string().optional(),
})
export type CompiledTool = z.infer<typeof CompiledTool>

/** The compilation result of several tools: definitions to send, the tool id of each name, and the losses of each tool. */
export const CompiledTools = z.object({
  definitions: z.array(z.union([LlmDefinition, OpenAiNamespace])),
  aliases: z.record(z.string(), z.string()),
  tools: z.array(CompiledTool.extend({ id: z.string() })),
})
export type CompiledTools = z.infer<typeof CompiledTools>
