import { sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import type { Db } from '../database.ts'
import { rowsOf } from '../rows-of.ts'

/** Where the tables of the first data model are put. */
export const aside = 'tooldex_before'

const times = ['created_at', 'updated_at']
const content = ['input_schema', 'output_schema', 'executor_config']
/** The columns that a table of the first data model had from its beginning; a name with a stroke changed on the way. */
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
// Every table of ours that is like one of the first data model has this column, which that did not know.
const oursAlone = 'workspace_id'

/** Whether there are tables of the first data model, and nothing else under their names. */
export async function hasOlderShape(db: Db): Promise<boolean> {
  if (await isThere(db, 'public.tooldex_migrations')) return false
  const found = await readColumns(db)
  return found.has('tools') && [...found].every(([table, columns]) => isOlder(table, columns))
}

/** Refuses a database in which something else has the names that ours need. */
export async function checkNoConflicts(db: Db, statements: readonly string[]): Promise<void> {
  if (await isThere(db, 'public.tooldex_migrations')) return
  const made = statements.flatMap((text) => [...text.matchAll(/^create (?:table|type) (?:"public"\.)?"(\w+)"/gim)])
  const names = made.map(([, name]) => name)
  const found = rowsOf<{ name: string }>(
    await db.execute(sql`select name from jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) as given (name)
      where to_regclass('public.' || name) is not null or to_regtype('public.' || name) is not null`),
  ).map(({ name }) => `public.${name}`)
  if (found.length === 0) return
  throw new TooldexError(
    'MIGRATION_FAILED',
    `The database belongs to something else: it has ${found.join(', ')}, which Tooldex did not make.`,
    { hint: 'Nothing was changed; use another database, one that is empty or that only Tooldex uses.' },
  )
}

/** Refuses where something else has the name of the place that the old tables are put in. */
export async function checkRenamedTables(db: Db): Promise<void> {
  const there = rowsOf(await db.execute(sql`select 1 as there from pg_namespace where nspname = ${aside}`)).length > 0
  if (!there) return
  throw new TooldexError(
    'MIGRATION_FAILED',
    `The older tables would be kept in the schema ${aside}, but there is one of that name already.`,
    { hint: `Nothing was changed; rename it (alter schema ${aside} rename to ...) or drop it, and try again.` },
  )
}

export async function isThere(db: Db, table: string): Promise<boolean> {
  const result = await db.execute(sql`select to_regclass(${table}) is not null as there`)
  return rowsOf<{ there: boolean }>(result)[0]?.there === true
}

function isOlder(table: OldTable, columns: ReadonlySet<string>): boolean {
  const known: readonly string[] = columnsOf[table]
  return !columns.has(oursAlone) && known.every((name) => name.split('|').some((each) => columns.has(each)))
}

/** The columns of whatever has the name of an old table; what is no table has none. */
async function readColumns(db: Db): Promise<ReadonlyMap<OldTable, ReadonlySet<string>>> {
  const rows = rowsOf<{ name: OldTable; columns: string }>(
    await db.execute(sql`
      select c.relname as name, coalesce(jsonb_agg(a.attname) filter (where c.relkind in ('r', 'p')), '[]')::text as columns
      from pg_class c left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace
        and c.relname in (select jsonb_array_elements_text(${JSON.stringify(oldTables)}::jsonb))
      group by c.oid, c.relname`),
  )
  return new Map(rows.map(({ name, columns }) => [name, new Set(JSON.parse(columns) as string[])]))
}
