import { isObject } from '../../base/json-values.ts'
import type { tools, toolVersions } from '../schema.ts'

/** A row of the first data model; `made_us` is its creation time in microseconds. */
export type OldRow = Readonly<Record<string, unknown>>
const draft07 = 'http://json-schema.org/draft-07/schema#'

/** An old version with its new number. */
export interface NumberedVersion {
  readonly number: number
  /** Its old version string; null where it had none. */
  readonly legacy: string | null
  readonly changelog: string | null
  /** The rows that contain its content and its times. */
  readonly content: OldRow
  readonly times: OldRow
  /** Whether it was created from the tool itself, because no version row has the same content. */
  readonly fromTool: boolean
}

export function toToolRow(tool: OldRow, versions: readonly NumberedVersion[]): typeof tools.$inferInsert {
  return {
    id: String(tool.id),
    name: String(tool.name),
    status: String(tool.status ?? 'DRAFT') as 'DRAFT',
    version: Math.max(versions.length, 1),
    ...metadataOf(tool),
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
    ...metadataOf(tool),
    ...legacyContent(content),
    ...legacyTimes(times),
  }
}

function metadataOf(tool: OldRow) {
  return {
    displayName: String(tool.display_name ?? tool.name),
    description: String(tool.description ?? ''),
    categoryId: legacyText(tool.category_id),
    tags: tagsOf(tool.tags),
    executorType: String(tool.executor_type ?? 'python'),
  }
}

/** The content of a version; the old schemas were draft-07 without a `$schema`. */
export function legacyContent(row: OldRow) {
  return {
    inputSchema: asDraft07(row.input_schema),
    outputSchema: asDraft07(row.output_schema),
    executorConfig: objectOf(row.executor_config),
    scriptContent: legacyText(row.script_content),
  }
}

/** Converts tags to unique strings. */
function tagsOf(tags: unknown): string[] {
  const texts = (Array.isArray(tags) ? tags : []).map((tag) => String(tag ?? '').trim())
  return [...new Set(texts.filter((tag) => tag !== ''))]
}

function asDraft07(value: unknown): Record<string, unknown> {
  const schema = objectOf(value)
  return Object.keys(schema).length === 0 || '$schema' in schema ? schema : { $schema: draft07, ...schema }
}

const objectOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {})
export const legacyText = (value: unknown): string | null => (value == null ? null : String(value))
/** A time without a zone is UTC. */
export function legacyTime(value: unknown): Date | null {
  if (value == null) return null
  const text = String(value)
  return new Date(/(Z|[+-]\d\d(:?\d\d)?)$/.test(text) ? text : `${text}Z`)
}
export const legacyTimes = (row: OldRow) => ({
  createdAt: legacyTime(row.created_at) ?? new Date(0),
  updatedAt: legacyTime(row.updated_at) ?? legacyTime(row.created_at) ?? new Date(0),
})
