import type { Category, RegisteredTool, ToolContent, ToolVersion } from '../contract/registry.ts'
import { ToolContent as ToolContentSchema } from '../contract/registry.ts'
import type { toolCategories, tools, toolVersions } from './schema.ts'

export const contentKeys = Object.keys(ToolContentSchema.shape) as readonly (keyof ToolContent)[]

/** What of a tool its versions keep, of a tool or of a row that has it among other columns. */
export function contentOf(given: Readonly<Record<keyof ToolContent, unknown>>): ToolContent {
  const content: Record<string, unknown> = {}
  for (const key of contentKeys) content[key] = given[key]
  return content as ToolContent
}

export function toTool(row: typeof tools.$inferSelect): RegisteredTool {
  return {
    id: row.id,
    ...contentOf(row),
    status: row.status,
    version: row.version,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

export function toVersion(row: typeof toolVersions.$inferSelect): ToolVersion {
  return {
    toolId: row.toolId,
    version: row.version,
    changelog: row.changelog,
    isLatest: row.isLatest,
    legacyVersion: row.legacyVersion,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.createdBy,
    content: contentOf(row),
  }
}

export function toCategory(row: typeof toolCategories.$inferSelect): Category {
  const { id, name, description, parentId, createdAt, updatedAt } = row
  return { id, name, description, parentId, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
}

/** What is wanted of an optional time. */
export const toIso = (time: Date | null): string | null => time?.toISOString() ?? null

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** A uuid column refuses to be compared with anything else. */
export const isUuid = (text: string): boolean => uuid.test(text)
