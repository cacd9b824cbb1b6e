import * as z from 'zod'
import { CatalogTool } from './catalog.ts'

/** Limits of a tool's documentation. Longer texts are cut in responses; larger arguments of examples are rejected. */
export const docLimits = {
  summary: 200,
  notes: 2000,
  exampleTitle: 120,
  exampleDescription: 300,
  exampleResultHint: 200,
  /** The arguments themselves are the first level. */
  exampleArgsDepth: 5,
  /** Object keys and array items of all levels. */
  exampleArgsSize: 50,
} as const

// The limit of a text of an example in storage, independent of the limits in responses.
const maxStored = 2000

/** The extent of a tool's documentation in a response. */
export const DetailLevel = z.enum(['summary', 'schema', 'full'])
export type DetailLevel = z.infer<typeof DetailLevel>

/** A summary of the parameters of a tool. */
export const SchemaInfo = z.object({
  required: z.array(z.string()),
  defaults: z.record(z.string(), z.unknown()),
  types: z.record(z.string(), z.array(z.string())),
})
export type SchemaInfo = z.infer<typeof SchemaInfo>

/** One call of a tool as an example. */
export const ToolExample = z.strictObject({
  title: storedText().optional(),
  description: storedText(),
  args: z
    .record(z.string(), z.unknown())
    .check(({ value, issues }) => {
      const message = findArgsProblem(value)
      if (message !== undefined) issues.push({ code: 'custom', input: value, message })
    })
    .optional(),
  resultHint: storedText().optional(),
})
export type ToolExample = z.infer<typeof ToolExample>

/** Documentation of a tool beyond its description; texts over the limit are cut. */
export const DocEntry = z.strictObject({
  summary: z.string().optional(),
  notes: z.string().optional(),
  examples: z.array(ToolExample).default([]),
  /** URLs or resource ids. */
  externalRefs: z.array(z.string().min(1)).default([]),
})
export type DocEntry = z.infer<typeof DocEntry>

/** The documentation of a tool in a response; each level includes the fields of the previous one. */
export const ToolDoc = z.object({
  summary: z.string().max(docLimits.summary),
  tool: CatalogTool.optional(),
  inputModes: z.array(z.string()).optional(),
  outputModes: z.array(z.string()).optional(),
  securitySummary: z.string().optional(),
  annotations: z.record(z.string(), z.unknown()).optional(),
  schemaInfo: SchemaInfo.optional(),
  notes: z.string().max(docLimits.notes).optional(),
  examples: z.array(ToolExample).optional(),
  externalRefs: z.array(z.string()).optional(),
})
export type ToolDoc = z.infer<typeof ToolDoc>

function storedText() {
  return z.string().max(maxStored, `must have at most ${maxStored} characters`)
}

/** Walks level by level and stops at the first excess, so that cycles and very large values end early. */
function findArgsProblem(args: object): string | undefined {
  let level: object[] = [args]
  let size = 0
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > docLimits.exampleArgsDepth) return `args nest deeper than ${docLimits.exampleArgsDepth} levels`
    const parts: unknown[] = []
    for (const value of level) {
      const own: unknown[] = Object.values(value)
      size += own.length
      if (size > docLimits.exampleArgsSize) return `args have more than ${docLimits.exampleArgsSize} keys and items`
      parts.push(...own)
    }
    level = parts.filter((part) => typeof part === 'object' && part !== null)
  }
  return undefined
}
