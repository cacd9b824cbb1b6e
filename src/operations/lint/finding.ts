import * as z from 'zod'
import type { ToolIndexEntry } from '../../contract/tool-index.ts'

/** What the catalog is judged by, in the order in which it is told. */
export const lintRules = [
  'stored-invalid',
  'broken-schema',
  'suspicious-schema',
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

/** One thing about a tool that makes it harder to find, to choose or to call. */
export const LintFinding = z.object({
  rule: z.enum(lintRules),
  severity: z.enum(['error', 'warning', 'info']),
  /** The tool; the source where the finding is about all of its tools. */
  tool: z.string(),
  message: z.string(),
  hint: z.string(),
})
export type LintFinding = z.infer<typeof LintFinding>

/** A tool as it is judged. */
export interface LintTool extends ToolIndexEntry {
  /** What a user would type to get it. */
  readonly exampleRequests: readonly string[]
}

/** Where a rule begins to speak; set so that the deliberate twins of the bundled configs stay just below. */
export const lintLimits = {
  /** Clients put a prefix before a name and cut at 64 characters. */
  nameLength: 50,
  descriptionLength: 20,
  descriptionWords: 3,
  arguments: 15,
  toolTokens: 800,
  sourceTokens: 15_000,
  /** Distinct bundled tools reach an overlap of .79 and a cosine of .88; copies and paraphrases lie above. */
  overlap: 0.8,
  cosine: 0.9,
  /** What each of the two must reach where the other one is decisive. */
  support: { overlap: 0.5, cosine: 0.75 },
  /** How far down a tool may be in the answer to its own example request. */
  rank: 5,
}
