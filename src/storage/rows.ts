import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { type ErrorCode, mustExist } from '../base/errors.ts'
import { isObject } from '../base/json-values.ts'
import {
  type Category,
  type RegisteredTool,
  type ToolContent,
  ToolContent as ToolContentSchema,
  type ToolVersion,
} from '../contract/registry.ts'
import type { Caller } from '../contract/stores.ts'
import type { Db } from './database.ts'
import type { toolCategories, tools, toolVersions } from './schema.ts'

export const contentKeys = Object.keys(ToolContentSchema.shape) as readonly (keyof ToolContent)[]

/** The versioned content of a tool or of a row. */
export function toolContentOf(source: Readonly<Record<keyof ToolContent, unknown>>): ToolContent {
  const content: Record<string, unknown> = {}
  for (const key of contentKeys) content[key] = source[key]
  return content as ToolContent
}

/** The content of a row; a value of the wrong JSON type, which only direct SQL can have written, is read as empty. */
function readContent(row: Readonly<Record<keyof ToolContent, unknown>>): ToolContent {
  const content = toolContentOf(row)
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

type NamedTable = PgTable & { readonly workspaceId: PgColumn; readonly name: PgColumn; readonly id?: PgColumn }

/** The statements on a table whose names are unique in a workspace. */
export function namedRows<Table extends NamedTable>(table: Table, noun: string, missing: ErrorCode = 'NOT_FOUND') {
  type Row = Table['$inferSelect']
  // The query builder cannot infer the rows of a table that is a type parameter.
  const any: PgTable = table
  const { workspaceId, id, name: nameColumn } = table
  const where = (workspace: string, idOrName: string): SQL | undefined => {
    const isId = id !== undefined && isUuid(idOrName)
    return and(eq(workspaceId, workspace), isId ? eq(id, idOrName.toLowerCase()) : eq(nameColumn, idOrName))
  }
  const select = (db: Db, workspace: string, idOrName: string) =>
    db.select().from(any).where(where(workspace, idOrName))
  const must = (row: Row | undefined, idOrName: string): Row => mustExist(row, noun, idOrName, missing)
  return {
    /** All rows of a workspace by name. */
    list: async (db: Db, workspace: string): Promise<Row[]> =>
      db.select().from(any).where(eq(workspaceId, workspace)).orderBy(nameColumn),
    /** A row by name, or by id where the table has ids. */
    find: async (db: Db, workspace: string, idOrName: string): Promise<Row | undefined> =>
      (await select(db, workspace, idOrName))[0],
    /** A row that must exist, locked until the end of the transaction. */
    lock: async (db: Db, workspace: string, idOrName: string): Promise<Row> =>
      must((await select(db, workspace, idOrName).for('update'))[0], idOrName),
    /** Creates a row, or changes the one with this name. */
    async put(db: Db, { workspace }: Caller, name: string, { set, create }: { set: object; create?: object }) {
      const [before] = await select(db, workspace, name).for('update')
      const [after] = await db
        .insert(any)
        .values({ workspaceId: workspace, name, ...create, ...set } as object)
        .onConflictDoUpdate({ target: [workspaceId, nameColumn], set: { ...set, updatedAt: sql`now()` } as object })
        .returning()
      return { before: before as Row | undefined, after: after as Row }
    },
    /** Deletes a row that must exist. */
    remove: async (db: Db, { workspace }: Caller, name: string): Promise<Row> =>
      must((await db.delete(any).where(where(workspace, name)).returning())[0] as Row | undefined, name),
    must,
  }
}
