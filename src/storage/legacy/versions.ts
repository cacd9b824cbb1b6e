import { isDeepStrictEqual } from 'node:util'
import { legacyContent, legacyText, type NumberedVersion, type OldRow } from './rows.ts'

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
