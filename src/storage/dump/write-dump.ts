import { getTableColumns, getTableName, is, type SQL, sql } from 'drizzle-orm'
import { getTableConfig, type PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { type Database, type Db, rowsOfResult } from '../database.ts'
import { guard, transactSlowly } from '../guard.ts'
import { readAppliedMigrations } from '../migrate.ts'
import * as schema from '../schema.ts'
import * as access from '../schema-access.ts'
import * as runs from '../schema-runs.ts'
import { type DumpHeader, DumpTally, type DumpTrailer } from './read-dump.ts'

/** Every table of a dump, referenced tables first. */
export const dumpedTables: readonly PgTable[] = [
  schema.workspaces,
  schema.settings,
  schema.toolCategories,
  schema.tools,
  schema.toolVersions,
  schema.toolProposals,
  runs.toolExecutions,
  runs.executionEvents,
  runs.executionResults,
  runs.secrets,
  schema.apiKeys,
  schema.policies,
  access.toolsets,
  access.limits,
  access.limitUsage,
  access.sources,
  access.sourceSignIns,
  schema.learnedQueries,
  schema.idempotentAnswers,
  schema.auditEntries,
  schema.auditHeads,
]

/** The tables of the schema except `workers`, whose rows are processes; a test checks that none is missing. */
export const knownTables = [...Object.values(schema), ...Object.values(access), ...Object.values(runs)].filter(
  (value) => is(value, PgTable) && value !== runs.workers,
) as readonly PgTable[]

const pageRows = 500

/** Writes the whole database line by line, as of one moment, independent of concurrent writes. */
export function writeDump(
  database: Database,
  write: (line: string) => Promise<void>,
  createdAt: string = new Date().toISOString(),
): Promise<DumpTrailer> {
  return transactSlowly(database.slow, (db) => writeAll(db, write, createdAt), {
    isolationLevel: 'repeatable read',
    accessMode: 'read only',
  })
}

async function writeAll(db: Db, write: (line: string) => Promise<void>, createdAt: string): Promise<DumpTrailer> {
  await db.execute(sql`set local timezone = 'UTC'`)
  const tally = new DumpTally()
  const put = async (line: string) => {
    tally.line(line)
    await write(line)
  }
  const migrations = (await readAppliedMigrations(db)).map(({ name }) => name)
  const header: DumpHeader = { format: 'tooldex-dump-1', migrations, createdAt }
  await put(JSON.stringify(header))
  for (const table of dumpedTables) {
    for await (const row of rowsOfTable(db, table)) {
      tally.row(getTableName(table))
      await put(`["${getTableName(table)}",${row}]`)
    }
  }
  const trailer = tally.finish()
  await write(JSON.stringify(trailer))
  return trailer
}

/** Page by page in the order of the primary key, so that the same rows always give the same file. */
async function* rowsOfTable(db: Db, table: PgTable): AsyncGenerator<string> {
  const key = keyOf(table)
  const columns = sql.join([...key], sql`, `)
  let after: readonly string[] | undefined
  for (;;) {
    const page = rowsOfResult<{ row: string; key: string }>(
      await db.execute(sql`select to_json(t)::text as row, ${textsOf(key)} as key
        from ${table} t ${rowsAfter(key, columns, after)} order by ${columns} limit ${pageRows}`),
    )
    // Line breaks in JSON text are always white space between values.
    for (const { row } of page) yield row.replaceAll(/[\r\n]/g, ' ')
    if (page.length < pageRows) return
    after = JSON.parse(page.at(-1)?.key ?? '[]') as readonly string[]
  }
}

const textsOf = (key: readonly SQL[]) =>
  sql`jsonb_build_array(${sql.join(
    key.map((column) => sql`${column}::text`),
    sql`, `,
  )})::text`

function rowsAfter(key: readonly SQL[], columns: SQL, after: readonly string[] | undefined): SQL {
  if (after === undefined) return sql``
  const values = key.map((_, at) => sql`${after[at]}`)
  return sql`where (${columns}) > (${sql.join(values, sql`, `)})`
}

function keyOf(table: PgTable): readonly SQL[] {
  const composite = getTableConfig(table).primaryKeys[0]?.columns as readonly PgColumn[] | undefined
  const columns = composite ?? Object.values(getTableColumns(table)).filter((column) => (column as PgColumn).primary)
  // The default collation differs between installations.
  const order = (column: PgColumn) =>
    column.dataType === 'string' && column.columnType !== 'PgUUID' ? sql` collate "C"` : sql``
  return (columns as readonly PgColumn[]).map((column) => sql`t.${sql.identifier(column.name)}${order(column)}`)
}

/** The number of rows of each table. */
export async function countRows({ slow }: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of dumpedTables) {
    const result = await guard(() => slow.execute(sql`select count(*)::int as rows from ${table}`))
    counts[getTableName(table)] = rowsOfResult<{ rows: number }>(result)[0]?.rows ?? 0
  }
  return counts
}
