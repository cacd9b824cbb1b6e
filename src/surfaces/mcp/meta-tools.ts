import type { Tool } from '@modelcontextprotocol/server'
import * as z from 'zod'

// Agents pay for these texts in every request; a test limits their tokens.
const definitions = {
  search_tools: {
    description:
      'Find tools by what they do. Search before saying that something cannot be done. Without arguments: an overview of what there is.',
    readOnly: true,
    input: z.object({
      query: z.string().optional(),
      category: z.string().optional(),
      cli: z.string().optional(),
      namespace: z.string().optional(),
      tags: z.array(z.string()).optional(),
      level: z.enum(['line', 'summary', 'schema']).optional(),
      limit: z.int().optional(),
      cursor: z.string().optional(),
      budgetTokens: z.int().optional(),
    }),
  },
  describe_tool: {
    description: 'Read how to call tools found by search_tools.',
    readOnly: true,
    input: z.object({
      ids: z.array(z.string()),
      level: z.enum(['summary', 'schema', 'full']).optional(),
    }),
  },
  call_tool: {
    description: 'Call a tool by name. dryRun shows what would run.',
    readOnly: false,
    input: z.object({
      name: z.string(),
      arguments: z.record(z.string(), z.unknown()).optional(),
      version: z.int().optional(),
      idempotencyKey: z.string().optional(),
      dryRun: z.boolean().optional(),
    }),
  },
} as const

export type MetaToolName = keyof typeof definitions

/** Whether a name is one of the three meta tools. */
export const isMetaTool = (name: string): name is MetaToolName => Object.hasOwn(definitions, name)

/** The listed arguments of a meta tool. */
export const metaToolArguments = (name: MetaToolName): readonly string[] => Object.keys(definitions[name].input.shape)

/** The schema of the arguments of a meta tool; others that models use are accepted, too. */
export const metaToolInput = (name: string): z.ZodType<Record<string, unknown>> =>
  definitions[name as MetaToolName].input.loose()

/** The meta tools as MCP tools. */
export function metaTools(): readonly Tool[] {
  return Object.entries(definitions).map(([name, { description, readOnly, input }]) => ({
    name,
    description,
    inputSchema: toSchema(input),
    ...(readOnly ? { annotations: { readOnlyHint: true } } : {}),
  }))
}

/** The JSON Schema without keywords that cost tokens and do not help models. */
function toSchema(input: z.ZodType): Tool['inputSchema'] {
  const schema = z.toJSONSchema(input, {
    override: ({ jsonSchema }) => {
      delete jsonSchema.minimum
      delete jsonSchema.maximum
      delete jsonSchema.propertyNames
      delete jsonSchema.additionalProperties
    },
  })
  const { $schema, ...rest } = schema
  return rest as Tool['inputSchema']
}

/** The meta tools that run no tool. */
export const metaToolsThatRead: ReadonlySet<string> = new Set(['search_tools', 'describe_tool'])
