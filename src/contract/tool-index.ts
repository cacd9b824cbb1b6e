import * as z from 'zod'
import { ArgDef, ToolDef } from './cli-config.ts'
import { ArgConstraint } from './policy.ts'

/** One searchable tool with the schema of its arguments. */
export const ToolIndexEntry = z.object({
  toolName: z.string(),
  description: z.string(),
  cliName: z.string(),
  category: z.string().nullable(),
  tags: z.array(z.string()),
  inputSchema: z.record(z.string(), z.unknown()),
})
export type ToolIndexEntry = z.infer<typeof ToolIndexEntry>

/** The summary of one loaded config. */
export const CliSummary = z.object({
  name: z.string(),
  description: z.string(),
  toolCount: z.int(),
  category: z.string().nullable(),
  tags: z.array(z.string()),
})
export type CliSummary = z.infer<typeof CliSummary>

/** A tool with the settings of its config that are needed to run it. */
export const ResolvedTool = z.object({
  tool: ToolDef,
  baseCommand: z.string(),
  env: z.record(z.string(), z.string()),
  workingDir: z.string().nullable(),
  globalArgs: z.array(ArgDef),
  descriptionOverride: z.string().nullable(),
  argConstraints: z.record(z.string(), ArgConstraint),
})
export type ResolvedTool = z.infer<typeof ResolvedTool>

/** The parameters of `ToolIndex.search`; an empty or missing value does not filter. */
export interface ToolIndexQuery {
  readonly query?: string | null | undefined
  readonly category?: string | null | undefined
  readonly cli?: string | null | undefined
  readonly limit?: number | undefined
}

/** A JSON Schema, as data. */
export type JsonSchema = { readonly [key: string]: unknown }
