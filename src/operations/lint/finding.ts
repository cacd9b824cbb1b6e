import * as z from 'zod'
import type { ToolIndexEntry } from '../../contract/tool-index.ts'

/** The lint rules, in report order. */
export const lintRules = [
  'stored-invalid',
  'broken-schema',
  'suspicious-schema',
  'suspicious-text',
  'missing-description',
  'short-description',
  'ambiguous-name',
  'odd-name',
  'long-name',
  'near-duplicate',
  'not-found',
  'undescribed-arguments',
  'many-arguments',
  'costly-tool',
  'costly-source',
] as const

/** One property of a tool that makes it harder to find, to choose or to call. */
export const LintFinding = z.object({
  rule: z.enum(lintRules),
  severity: z.enum(['error', 'warning', 'info']),
  /** The tool, or the source if the finding is about all of its tools. */
  tool: z.string(),
  message: z.string(),
  hint: z.string(),
  /** A change of the registered tool that certainly fixes it: the new values of its fields. */
  fix: z.object({ title: z.string(), changes: z.record(z.string(), z.unknown()) }).optional(),
})
export type LintFinding = z.infer<typeof LintFinding>

/** A tool as input of the rules. */
export interface LintTool extends ToolIndexEntry {
  /** Example requests of users for it. */
  readonly exampleRequests: readonly string[]
  /** Whether it can be changed here, so that certain fixes are offered. */
  readonly isRegistered?: boolean
}

/** The thresholds of the rules, set so that the intended near-duplicates in the bundled configs stay just below. */
export const lintLimits = {
  /** Clients prefix names and truncate them at 64 characters. */
  nameLength: 50,
  descriptionLength: 20,
  descriptionWords: 3,
  arguments: 15,
  toolTokens: 800,
  sourceTokens: 15_000,
  /** Distinct bundled tools reach an overlap of .79 and a cosine of .88; copies and paraphrases lie above. */
  overlap: 0.8,
  cosine: 0.9,
  /** The minimum of each measure if the other one is decisive. */
  support: { overlap: 0.5, cosine: 0.75 },
  /** The lowest acceptable rank of a tool for its own example request. */
  rank: 5,
}
