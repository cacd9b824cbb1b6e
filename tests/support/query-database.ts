import { sql } from 'drizzle-orm'
import { rowsOfResult } from '../../src/storage/database.ts'
import type { Database } from '../../src/storage/index.ts'

/** The rows of a statement, on either engine. */
export const query = async <Row>({ db }: Database, text: string) =>
  rowsOfResult<Record<string, unknown>>(await db.execute(sql.raw(text))).map(
    (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, readJson(value)])) as Row,
  )
/** Outside the query builder JSON columns are texts. */
const readJson = (value: unknown): unknown =>
  typeof value === 'string' && /^[[{]/.test(value) ? JSON.parse(value) : value
/** Whatever is in a database, by name. */
export const everything = (database: Database) =>
  query<{ name: string }>(
    database,
    `select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') order by 1`,
  )
/** Statements that have no semicolon in them. */
export async function run(database: Database, script: string): Promise<void> {
  for (const statement of script.split(';')) if (statement.trim() !== '') await database.db.execute(sql.raw(statement))
}
