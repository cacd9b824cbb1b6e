import * as z from 'zod'

/** The classes of changes in ascending severity. */
export const changeClasses = ['wording', 'compatible', 'breaking'] as const

/** The effect of a change on callers: other texts, additions, or calls that may no longer work. */
export const ChangeClass = z.enum(changeClasses)
export type ChangeClass = z.infer<typeof ChangeClass>

/** One difference between two schemas or configs; in a schema the pointer treats references as inlined. */
export const SchemaChange = z.strictObject({ pointer: z.string(), class: ChangeClass, message: z.string() })
export type SchemaChange = z.infer<typeof SchemaChange>

/** One changed field of a tool. */
export const FieldChange = z.strictObject({
  field: z.string(),
  class: ChangeClass,
  before: z.unknown(),
  after: z.unknown(),
  /** For schemas and configs: each differing location. */
  changes: z.array(SchemaChange).optional(),
  /** The differing lines, only for long texts. */
  text: z.string().optional(),
})
export type FieldChange = z.infer<typeof FieldChange>

/** The differences between two states of a tool; its class is the most severe of its fields. */
export const ToolDiff = z.strictObject({ class: z.enum(['none', ...changeClasses]), fields: z.array(FieldChange) })
export type ToolDiff = z.infer<typeof ToolDiff>

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
