import * as z from 'zod'

/** How much a change matters to a caller, the least first. */
export const changeClasses = ['wording', 'compatible', 'breaking'] as const

/** What a change means to whoever calls the tool: other words, more than before, or calls that worked and may not now. */
export const ChangeClass = z.enum(changeClasses)
export type ChangeClass = z.infer<typeof ChangeClass>

/** One difference between two schemas or configs; in a schema the pointer goes through references as if they were written out. */
export const SchemaChange = z.strictObject({ pointer: z.string(), class: ChangeClass, message: z.string() })
export type SchemaChange = z.infer<typeof SchemaChange>

/** One field of a tool that is not what it was. */
export const FieldChange = z.strictObject({
  field: z.string(),
  class: ChangeClass,
  before: z.unknown(),
  after: z.unknown(),
  /** For schemas and configs: each place that differs. */
  changes: z.array(SchemaChange).optional(),
  /** The lines that differ, only for long texts. */
  text: z.string().optional(),
})
export type FieldChange = z.infer<typeof FieldChange>

/** What differs between two states of a tool; its class is the worst of its fields. */
export const ToolDiff = z.strictObject({ class: z.enum(['none', ...changeClasses]), fields: z.array(FieldChange) })
export type ToolDiff = z.infer<typeof ToolDiff>
