import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { type ErrorCode, mustExist } from '../base/errors.ts'
import type { Caller } from '../contract/stores.ts'
import type { Db } from './database.ts'
import { isUuid } from './rows.ts'

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
