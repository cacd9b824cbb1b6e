import * as z from 'zod'
import { CatalogTool } from './catalog.ts'

/** Bounds of a tool's documentation. Longer texts are cut where they are shown; larger arguments of examples are refused. */
export const docLimits = {
  summary: 200,
  notes: 2000,
  exampleTitle: 120,
  exampleDescription: 300,
  exampleResultHint: 200,
  /** The arguments themselves are the first level. */
  exampleArgsDepth: 5,
  /** Keys of objects and items of lists, at every level. */
  exampleArgsSize: 50,
} as const

// What one text of an example may take in a store, whatever is shown of it.
const maxStored = 2000

/** How much one wants to read about a tool. */
export const DetailLevel = z.enum(['summary', 'schema', 'full'])
export type DetailLevel = z.infer<typeof DetailLevel>

/** The parameters of a tool at a glance. */
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

/** What is written about a tool beyond its own description; texts that are too long are cut. */
export const DocEntry = z.strictObject({
  summary: z.string().optional(),
  notes: z.string().optional(),
  examples: z.array(ToolExample).default([]),
  /** URLs or resource ids. */
  externalRefs: z.array(z.string().min(1)).default([]),
})
export type DocEntry = z.infer<typeof DocEntry>

/** What one reads about a tool; each level has the fields of the one before. */
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
  return z.string().max(maxStored, `must have ${maxStored} characters at most`)
}

/** Walks level by level and stops at the first excess, so that cycles and floods end early. */
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
