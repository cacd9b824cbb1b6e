import { isDeepStrictEqual } from 'node:util'
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
function legacyContent(row: OldRow) {
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

const contentFields = ['input_schema', 'output_schema', 'executor_config', 'script_content']

/** Numbers the versions of each tool from 1 by creation time. */
export function numberVersions(
  oldTools: readonly OldRow[],
  oldVersions: readonly OldRow[],
): ReadonlyMap<string, readonly NumberedVersion[]> {
  const byTool = new Map<string, OldRow[]>()
  for (const row of oldVersions) byTool.set(String(row.tool_id), [...(byTool.get(String(row.tool_id)) ?? []), row])
  return new Map(
    oldTools.map((tool) => [String(tool.id), versionsOf(tool, (byTool.get(String(tool.id)) ?? []).sort(byTime))]),
  )
}

/** The latest version must equal the tool; where no row does, a version is added. */
function versionsOf(tool: OldRow, rows: readonly OldRow[]): readonly NumberedVersion[] {
  const numbered = rows.map((row, index) => ({
    number: index + 1,
    legacy: legacyText(row.version),
    changelog: legacyText(row.changelog),
    content: index === rows.length - 1 ? filled(row, tool) : row,
    times: row,
    fromTool: false,
  }))
  const newest = numbered.at(-1)
  if (newest !== undefined && isDeepStrictEqual(legacyContent(newest.content), legacyContent(tool))) return numbered
  const currentName = legacyText(tool.current_version ?? tool.version)
  const own = {
    number: numbered.length + 1,
    legacy: numbered.some(({ legacy }) => legacy === currentName) ? null : currentName,
    changelog: newest === undefined ? null : 'The content of the tool, which no version contained.',
    content: tool,
    times: newest === undefined ? tool : { created_at: tool.updated_at ?? tool.created_at },
    fromTool: true,
  }
  return [...numbered, own]
}

/** Fills missing fields of the newest version from the tool. */
const filled = (row: OldRow, tool: OldRow): OldRow =>
  Object.fromEntries(contentFields.map((field) => [field, row[field] ?? tool[field]]))

/** The newest version of that name that existed at the time of the run; otherwise the newest of that name, or the first. */
export function findVersion(numbered: readonly NumberedVersion[], execution: OldRow): number {
  const same = numbered.filter(({ legacy }) => legacy === String(execution.version))
  const before = same.filter(({ fromTool, times }) => fromTool || createdAt(times) <= createdAt(execution))
  return (before.at(-1) ?? same.at(-1))?.number ?? 1
}

const byTime = (a: OldRow, b: OldRow): number =>
  createdAt(a) - createdAt(b) ||
  byNumbers.compare(String(a.version), String(b.version)) ||
  (String(a.id) < String(b.id) ? -1 : 1)
const createdAt = (row: OldRow): number => Number(row.made_us ?? 0)
const byNumbers = new Intl.Collator('en', { numeric: true })
