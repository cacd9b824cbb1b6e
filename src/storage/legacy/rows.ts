import type { tools, toolVersions } from '../schema.ts'

/** A row of the first data model; `made_us` is when it was made, in microseconds. */
export type OldRow = Readonly<Record<string, unknown>>
const draft07 = 'http://json-schema.org/draft-07/schema#'

/** A version as it was, with the number it gets. */
export interface NumberedVersion {
  readonly number: number
  /** What it was called; null where it had no name of its own. */
  readonly legacy: string | null
  readonly changelog: string | null
  /** Where what it was is written, and when it was made. */
  readonly content: OldRow
  readonly times: OldRow
  /** Made from the tool itself, because no row of a version says the same. */
  readonly fromTool: boolean
}

export function toToolRow(tool: OldRow, versions: readonly NumberedVersion[]): typeof tools.$inferInsert {
  return {
    id: String(tool.id),
    name: String(tool.name),
    status: String(tool.status ?? 'DRAFT') as 'DRAFT',
    version: Math.max(versions.length, 1),
    ...meaningOf(tool),
    ...legacyContent(tool),
    ...legacyTimes(tool),
  }
}

export function toVersionRow(
  tool: OldRow,
  { number, legacy, changelog, content, times }: NumberedVersion,
  latest: number,
): typeof toolVersions.$inferInsert {
  return {
    toolId: String(tool.id),
    version: number,
    legacyVersion: legacy,
    isLatest: number === latest,
    changelog,
    name: String(tool.name),
    ...meaningOf(tool),
    ...legacyContent(content),
    ...legacyTimes(times),
  }
}

function meaningOf(tool: OldRow) {
  return {
    displayName: String(tool.display_name ?? tool.name),
    description: String(tool.description ?? ''),
    categoryId: legacyText(tool.category_id),
    tags: tagsOf(tool.tags),
    executorType: String(tool.executor_type ?? 'python'),
  }
}

/** What a version keeps for itself; the old schemas were draft-07 without saying so. */
export function legacyContent(row: OldRow) {
  return {
    inputSchema: asDraft07(row.input_schema),
    outputSchema: asDraft07(row.output_schema),
    executorConfig: objectOf(row.executor_config),
    scriptContent: legacyText(row.script_content),
  }
}

/** Tags are texts here, each of them once. */
function tagsOf(tags: unknown): string[] {
  const texts = (Array.isArray(tags) ? tags : []).map((tag) => String(tag ?? '').trim())
  return [...new Set(texts.filter((tag) => tag !== ''))]
}

function asDraft07(value: unknown): Record<string, unknown> {
  const schema = objectOf(value)
  return Object.keys(schema).length === 0 || '$schema' in schema ? schema : { $schema: draft07, ...schema }
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
export const legacyText = (value: unknown): string | null => (value == null ? null : String(value))
/** A time without a zone was meant as UTC. */
export function legacyTime(value: unknown): Date | null {
  if (value == null) return null
  const text = String(value)
  return new Date(/(Z|[+-]\d\d(:?\d\d)?)$/.test(text) ? text : `${text}Z`)
}
export const legacyTimes = (row: OldRow) => ({
  createdAt: legacyTime(row.created_at) ?? new Date(0),
  updatedAt: legacyTime(row.updated_at) ?? legacyTime(row.created_at) ?? new Date(0),
})
