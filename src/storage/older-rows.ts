import type { tools, toolVersions } from './schema.ts'
import type { toolExecutions } from './schema-runs.ts'

/** A row of the first data model; `made_us` is when it was made, in microseconds. */
export type OldRow = Readonly<Record<string, unknown>>
const draft07 = 'http://json-schema.org/draft-07/schema#'

/** A version as it was, with the number it gets. */
export interface NumberedVersion {
  readonly number: number
  /** What it was called; null where there was no row and one is made from the tool itself. */
  readonly legacy: string | null
  readonly row: OldRow | undefined
}

/** The versions of each tool from 1 on, by the time they were made; a tool without any gets one. */
export function numberVersions(
  oldTools: readonly OldRow[],
  oldVersions: readonly OldRow[],
): ReadonlyMap<string, readonly NumberedVersion[]> {
  const byTool = new Map<string, OldRow[]>()
  for (const row of oldVersions) byTool.set(String(row.tool_id), [...(byTool.get(String(row.tool_id)) ?? []), row])
  return new Map(
    oldTools.map((tool) => {
      const rows = (byTool.get(String(tool.id)) ?? []).sort(byTime)
      const numbered = rows.map((row, index) => ({ number: index + 1, legacy: String(row.version), row }))
      const own = { number: 1, legacy: textOf(tool.current_version ?? tool.version), row: undefined }
      return [String(tool.id), numbered.length === 0 ? [own] : numbered] as const
    }),
  )
}

export function toToolRow(tool: OldRow, versions: readonly NumberedVersion[]): typeof tools.$inferInsert {
  return {
    id: String(tool.id),
    name: String(tool.name),
    status: String(tool.status ?? 'DRAFT') as 'DRAFT',
    version: Math.max(versions.length, 1),
    ...meaningOf(tool),
    ...schemasOf(tool),
    ...timesOf(tool),
  }
}

export function toVersionRow(
  tool: OldRow,
  { number, legacy, row }: NumberedVersion,
  latest: number,
): typeof toolVersions.$inferInsert {
  // What the latest version is must be what the tool is.
  const content = number === latest || row === undefined ? tool : row
  return {
    toolId: String(tool.id),
    version: number,
    legacyVersion: legacy,
    isLatest: number === latest,
    changelog: textOf(row?.changelog),
    name: String(tool.name),
    ...meaningOf(tool),
    ...schemasOf(content),
    ...timesOf(row ?? tool),
  }
}

export function toExecutionRow(
  row: OldRow,
  names: ReadonlyMap<string, string>,
  versions: ReadonlyMap<string, readonly NumberedVersion[]>,
): typeof toolExecutions.$inferInsert {
  const toolId = textOf(row.tool_id)
  const name = names.get(toolId ?? '')
  const known = versions.get(toolId ?? '') ?? []
  return {
    id: String(row.id),
    toolId: name === undefined ? null : toolId,
    toolName: name ?? 'unknown',
    version: findVersion(known, row),
    legacyVersion: textOf(row.version),
    status: String(row.status) as 'PENDING',
    inputData: row.input_data ?? {},
    outputData: row.output_data ?? null,
    errorMessage: textOf(row.error_message),
    startedAt: timeOf(row.started_at),
    completedAt: timeOf(row.completed_at),
    durationMs: row.duration_ms == null ? null : Number(row.duration_ms),
    callerId: textOf(row.caller_id),
    traceId: textOf(row.trace_id),
    ...timesOf(row),
  }
}

/** The newest version of that name that was there when it ran; the newest of that name otherwise, or else the first. */
function findVersion(known: readonly NumberedVersion[], execution: OldRow): number {
  const same = known.filter(({ legacy }) => legacy === String(execution.version))
  const before = same.filter(({ row }) => row === undefined || madeAt(row) <= madeAt(execution))
  return (before.at(-1) ?? same.at(-1))?.number ?? 1
}

function meaningOf(tool: OldRow) {
  return {
    displayName: String(tool.display_name ?? tool.name),
    description: String(tool.description ?? ''),
    categoryId: textOf(tool.category_id),
    tags: Array.isArray(tool.tags) ? tool.tags : [],
    executorType: String(tool.executor_type ?? 'python'),
  }
}

/** The old schemas were draft-07 without saying so. */
function schemasOf(row: OldRow) {
  return {
    inputSchema: asDraft07(row.input_schema),
    outputSchema: asDraft07(row.output_schema),
    executorConfig: objectOf(row.executor_config),
    scriptContent: textOf(row.script_content),
  }
}

function asDraft07(value: unknown): Record<string, unknown> {
  const schema = objectOf(value)
  return Object.keys(schema).length === 0 || '$schema' in schema ? schema : { $schema: draft07, ...schema }
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
const textOf = (value: unknown): string | null => (value == null ? null : String(value))
/** A time without a zone was meant as UTC. */
function timeOf(value: unknown): Date | null {
  if (value == null) return null
  const text = String(value)
  return new Date(/(Z|[+-]\d\d(:?\d\d)?)$/.test(text) ? text : `${text}Z`)
}
export const timesOf = (row: OldRow) => ({
  createdAt: timeOf(row.created_at) ?? new Date(0),
  updatedAt: timeOf(row.updated_at) ?? timeOf(row.created_at) ?? new Date(0),
})
const byTime = (a: OldRow, b: OldRow): number =>
  madeAt(a) - madeAt(b) ||
  byNumbers.compare(String(a.version), String(b.version)) ||
  (String(a.id) < String(b.id) ? -1 : 1)
const madeAt = (row: OldRow): number => Number(row.made_us ?? 0)
const byNumbers = new Intl.Collator('en', { numeric: true })
