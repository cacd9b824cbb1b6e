import * as z from 'zod'

/** One location in which two outputs differ. */
export const Difference = z.object({
  /** A JSON pointer; empty for the whole output. */
  pointer: z.string(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
})
export type Difference = z.infer<typeof Difference>

/** One recorded input, run against a proposal. */
export const ReplayedRun = z.object({
  /** The original run. */
  recordedId: z.guid(),
  /** The replayed run; null where the proposal rejects the input. */
  executionId: z.guid().nullable(),
  outcome: z.enum(['same', 'differs', 'failed']),
  inputData: z.unknown(),
  differences: z.array(Difference),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
})
export type ReplayedRun = z.infer<typeof ReplayedRun>

/** The numbers of outcomes of a replay. */
export const ReplayCounts = z.object({
  at: z.iso.datetime(),
  by: z.string(),
  /** The version that the proposal was compared with. */
  version: z.int(),
  same: z.int(),
  differs: z.int(),
  failed: z.int(),
})
export type ReplayCounts = z.infer<typeof ReplayCounts>

/** The result of a replay. */
export const ReplayReport = ReplayCounts.extend({ runs: z.array(ReplayedRun) })
export type ReplayReport = z.infer<typeof ReplayReport>
