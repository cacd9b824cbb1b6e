import * as z from 'zod'

/** One place in which two outputs differ. */
export const Difference = z.object({
  /** A JSON pointer; empty for the whole. */
  pointer: z.string(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
})
export type Difference = z.infer<typeof Difference>

/** One recorded input, run again with a change. */
export const ReplayedRun = z.object({
  /** The run that was recorded. */
  recordedId: z.guid(),
  /** The run that was made of it; null where the change does not take the input any more. */
  executionId: z.guid().nullable(),
  outcome: z.enum(['same', 'differs', 'failed']),
  inputData: z.unknown(),
  differences: z.array(Difference),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
})
export type ReplayedRun = z.infer<typeof ReplayedRun>

/** How many recorded inputs gave the same with a change. */
export const ReplayCounts = z.object({
  at: z.iso.datetime(),
  by: z.string(),
  /** The version that the change was compared with. */
  version: z.int(),
  same: z.int(),
  differs: z.int(),
  failed: z.int(),
})
export type ReplayCounts = z.infer<typeof ReplayCounts>

/** What came of running recorded inputs against a change. */
export const ReplayReport = ReplayCounts.extend({ runs: z.array(ReplayedRun) })
export type ReplayReport = z.infer<typeof ReplayReport>
