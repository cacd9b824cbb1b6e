import { sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import { type Db, rowsOfResult } from '../database.ts'

/** The schema that the tables of the first data model are moved to. */
export const legacySchema = 'tooldex_before'

const times = ['created_at', 'updated_at']
const content = ['input_schema', 'output_schema', 'executor_config']
/** The original columns of the tables of the first data model; a name with `|` has two spellings. */
const columnsOf = {
  tool_executions:
    'id tool_id version status input_data output_data error_message started_at completed_at duration_ms caller_id trace_id'
      .split(' ')
      .concat(times),
  tool_versions: ['id', 'tool_id', 'version', 'changelog', 'is_latest', ...content, ...times],
  tools: 'id name display_name description status category_id tags executor_type current_version|version'
    .split(' ')
    .concat(content, times),
  tool_categories: ['id', 'name', 'description', 'parent_id', ...times],
} as const satisfies Record<string, readonly string[]>
export type OldTable = keyof typeof columnsOf
export const oldTables = Object.keys(columnsOf) as readonly OldTable[]
// Every current table with the name of an old one has this column, which the old ones lack.
const currentColumn = 'workspace_id'

/** Whether there are tables of the first data model, and nothing else with their names. */
export async function hasOlderShape(db: Db): Promise<boolean> {
  if (await tableExists(db, 'public.tooldex_migrations')) return false
  const found = await readColumns(db)
  return found.has('tools') && [...found].every(([table, columns]) => isOlder(table, columns))
}

/** Rejects a database in which something else has the names of Tooldex's tables or types. */
export async function checkNoConflicts(db: Db, statements: readonly string[]): Promise<void> {
  if (await tableExists(db, 'public.tooldex_migrations')) return
  const created = statements.flatMap((text) => [...text.matchAll(/^create (?:table|type) (?:"public"\.)?"(\w+)"/gim)])
  const names = created.map(([, name]) => name)
  const found = rowsOfResult<{ name: string }>(
    await db.execute(sql`select name from jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) as given (name)
      where to_regclass('public.' || name) is not null or to_regtype('public.' || name) is not null`),
  ).map(({ name }) => `public.${name}`)
  if (found.length === 0) return
  throw new TooldexError(
    'MIGRATION_FAILED',
    `The database belongs to something else: it has ${found.join(', ')}, which Tooldex did not create.`,
    { hint: 'Nothing was changed; use another database, one that is empty or that only Tooldex uses.' },
  )
}

/** Rejects a database that already has a schema with the name for the old tables. */
export async function checkRenamedTables(db: Db): Promise<void> {
  const there =
    rowsOfResult(await db.execute(sql`select 1 as there from pg_namespace where nspname = ${legacySchema}`)).length > 0
  if (!there) return
  throw new TooldexError(
    'MIGRATION_FAILED',
    `The older tables cannot be moved to the schema ${legacySchema}, because it already exists.`,
    { hint: `Nothing was changed; rename it (alter schema ${legacySchema} rename to ...) or drop it, and try again.` },
  )
}

export async function tableExists(db: Db, table: string): Promise<boolean> {
  const result = await db.execute(sql`select to_regclass(${table}) is not null as there`)
  return rowsOfResult<{ there: boolean }>(result)[0]?.there === true
}

function isOlder(table: OldTable, columns: ReadonlySet<string>): boolean {
  const expected: readonly string[] = columnsOf[table]
  return !columns.has(currentColumn) && expected.every((name) => name.split('|').some((each) => columns.has(each)))
}

/** The columns of every relation with the name of an old table; none for a relation that is not a table. */
async function readColumns(db: Db): Promise<ReadonlyMap<OldTable, ReadonlySet<string>>> {
  const rows = rowsOfResult<{ name: OldTable; columns: string }>(
    await db.execute(sql`
      select c.relname as name, coalesce(jsonb_agg(a.attname) filter (where c.relkind in ('r', 'p')), '[]')::text as columns
      from pg_class c left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace
        and c.relname in (select jsonb_array_elements_text(${JSON.stringify(oldTables)}::jsonb))
      group by c.oid, c.relname`),
  )
  return new Map(rows.map(({ name, columns }) => [name, new Set(JSON.parse(columns) as string[])]))
}
