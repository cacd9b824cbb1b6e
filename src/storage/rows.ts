import { isObject } from '../base/json-values.ts'
import {
  type Category,
  type RegisteredTool,
  type ToolContent,
  ToolContent as ToolContentSchema,
  type ToolVersion,
} from '../contract/registry.ts'
import type { toolCategories, tools, toolVersions } from './schema.ts'

export const contentKeys = Object.keys(ToolContentSchema.shape) as readonly (keyof ToolContent)[]

/** The versioned content of a tool or of a row. */
export function contentOf(source: Readonly<Record<keyof ToolContent, unknown>>): ToolContent {
  const content: Record<string, unknown> = {}
  for (const key of contentKeys) content[key] = source[key]
  return content as ToolContent
}

/** The content of a row; a value of the wrong JSON type, which only direct SQL can have written, is read as empty. */
function readContent(row: Readonly<Record<keyof ToolContent, unknown>>): ToolContent {
  const content = contentOf(row)
  return {
    ...content,
    tags: arrayOf(content.tags).map(String),
    exampleRequests: arrayOf(content.exampleRequests).map(String),
    externalRefs: arrayOf(content.externalRefs).map(String),
    inputModes: arrayOf(content.inputModes).map(String),
    outputModes: arrayOf(content.outputModes).map(String),
    examples: arrayOf(content.examples).filter(isObject),
    inputSchema: objectOf(content.inputSchema),
    outputSchema: objectOf(content.outputSchema),
    executorConfig: objectOf(content.executorConfig),
    annotations: objectOf(content.annotations),
    icons: arrayOf(content.icons).filter(isObject),
    _meta: objectOf(content._meta),
  }
}

const arrayOf = <Item>(value: readonly Item[]): Item[] => (Array.isArray(value) ? value : [])
const objectOf = (value: Record<string, unknown>): Record<string, unknown> => (isObject(value) ? value : {})

export function toTool(row: typeof tools.$inferSelect): RegisteredTool {
  return {
    id: row.id,
    ...readContent(row),
    status: row.status,
    version: row.version,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

export function toVersion(row: typeof toolVersions.$inferSelect): ToolVersion {
  return {
    id: row.id,
    toolId: row.toolId,
    version: row.version,
    changelog: row.changelog,
    isLatest: row.isLatest,
    legacyVersion: row.legacyVersion,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    createdBy: row.createdBy,
    content: readContent(row),
  }
}

export function toCategory(row: typeof toolCategories.$inferSelect): Category {
  const { id, name, description, parentId, createdAt, updatedAt } = row
  return { id, name, description, parentId, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
}

export const toIso = (time: Date | null): string | null => time?.toISOString() ?? null

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** A uuid column cannot be compared with other text. */
export const isUuid = (text: string): boolean => uuid.test(text)
