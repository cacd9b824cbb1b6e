import { getTableName, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import { type Database, type Db, rowsOfResult } from '../database.ts'
import { databaseCauseOf } from '../failures.ts'
import { transactSlowly } from '../guard.ts'
import {
  applyMigrations,
  type Migration,
  readAppliedMigrations,
  readMigrations,
  takeMigrationLock,
} from '../migrate.ts'
import { changeChannel } from '../record.ts'
import { proposalStatus, toolStatus } from '../schema.ts'
import { executionStatus } from '../schema-runs.ts'
import { type DumpHeader, type DumpRow, type DumpTrailer, dumpRefused, readDump } from './read-dump.ts'
import { dumpedTables } from './write-dump.ts'

/** The options of a restore. */
export interface RestoreOptions {
  /** Opens the file from its beginning. */
  readonly lines: () => AsyncIterable<string>
  /** Whether existing rows may be deleted. */
  readonly replace: boolean
  readonly onRows?: ((rows: number) => void) | undefined
  readonly migrations?: readonly Migration[]
}

const enums = [toolStatus, executionStatus, proposalStatus]
const names = dumpedTables.map((table) => getTableName(table))

/** Restores a file into a migrated database, all or nothing. An older file goes through the later migrations. */
export async function restoreDump(database: Database, options: RestoreOptions): Promise<DumpTrailer> {
  const { migrations = readMigrations() } = options
  return transactSlowly(database.slow, async (db) => {
    await takeMigrationLock(db)
    if (!options.replace) await checkEmpty(db)
    const reader = readDump(options.lines())
    const first = await reader.next()
    if (first.done === true || !('format' in first.value)) throw dumpRefused('its first line is not a valid header')
    await resetTables(db, first.value, migrations)
    const trailer = await insertAll(db, reader, options.onRows)
    await applyMigrations(db, migrations)
    await db.execute(sql`select pg_notify(${changeChannel}, id) from workspaces`)
    return trailer
  })
}

async function insertAll(db: Db, reader: ReturnType<typeof readDump>, onRows: RestoreOptions['onRows']) {
  const inserter = await RowInserter.start(db)
  for (let count = 1; ; count++) {
    const { done, value } = await reader.next()
    if (done === true) {
      await inserter.finish()
      return value
    }
    if ('table' in value) await inserter.add(value)
    if (count % 1000 === 0) onRows?.(count)
  }
}

/** Empties the tables, or creates them with the schema of the file. */
async function resetTables(db: Db, { migrations: dumped }: DumpHeader, shipped: readonly Migration[]): Promise<void> {
  const unknown = dumped.filter((name, at) => shipped[at]?.name !== name)
  if (unknown.length > 0)
    throw new TooldexError(
      'MIGRATION_FAILED',
      `The file contains the migration ${unknown[0]}, which is unknown to this release.`,
      {
        hint: 'Use the release that wrote the file, or a newer one.',
      },
    )
  const applied = await readAppliedMigrations(db)
  if (applied.length === dumped.length) {
    await db.execute(sql.raw(`truncate ${names.join(', ')}`))
    return
  }
  await db.execute(sql.raw(`drop table if exists ${names.join(', ')}, workers, tooldex_migrations cascade`))
  await db.execute(sql.raw(`drop type if exists ${enums.map(({ enumName }) => enumName).join(', ')}`))
  await applyMigrations(db, shipped.slice(0, dumped.length))
  const created = rowsOfResult<{ name: string }>(
    await db.execute(sql`select tablename as name from pg_tables where schemaname = 'public' and tablename = any(
      string_to_array(${names.join(',')}, ','))`),
  )
  await db.execute(sql.raw(`truncate ${created.map(({ name }) => name).join(', ')}`))
}

/** A database that was only migrated has one workspace and its settings. */
async function checkEmpty(db: Db): Promise<void> {
  for (const name of names) {
    const maxRows = name === 'workspaces' ? 1 : 0
    if (name === 'settings') continue
    const found = rowsOfResult(await db.execute(sql.raw(`select 1 as found from ${name} limit ${maxRows + 1}`)))
    if (found.length <= maxRows) continue
    throw new TooldexError('IN_USE', `The database is not empty: the table ${name} has rows.`, {
      hint: 'Import into an empty database, or use --replace to delete the contents of this one.',
    })
  }
}

const maxRows = 500
const maxCharacters = 2_000_000

/** Inserts rows of a file in batches. */
export class RowInserter {
  readonly #db: Db
  /** The existing tables, and whether their rows reference each other, so that all must be inserted in one statement. */
  readonly #tables: ReadonlyMap<string, boolean>
  #table = ''
  #rows: string[] = []
  #characters = 0

  private constructor(db: Db, tables: ReadonlyMap<string, boolean>) {
    this.#db = db
    this.#tables = tables
  }

  static async start(db: Db): Promise<RowInserter> {
    const tables = rowsOfResult<{ name: string; cyclic: boolean }>(
      await db.execute(sql`select c.relname as name, exists (
          select 1 from pg_constraint k where k.conrelid = c.oid and k.confrelid = c.oid) as cyclic
        from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
          and c.relname <> 'tooldex_migrations'`),
    )
    return new RowInserter(db, new Map(tables.map(({ name, cyclic }) => [name, cyclic])))
  }

  async add({ table, row }: DumpRow): Promise<void> {
    if (!this.#tables.has(table)) throw dumpRefused(`the table ${table} does not exist`)
    const full = this.#rows.length >= maxRows || this.#characters + row.length > maxCharacters
    if (table !== this.#table || (full && this.#tables.get(table) === false)) await this.#flush()
    this.#table = table
    this.#rows.push(row)
    this.#characters += row.length
  }

  /** Inserts the rest and sets identity counters behind the last row. */
  async finish(): Promise<void> {
    await this.#flush()
    const counters = rowsOfResult<{ name: string; column: string }>(
      await this.#db.execute(sql`select table_name as name, column_name as column from information_schema.columns
        where table_schema = 'public' and is_identity = 'YES'`),
    )
    for (const { name, column } of counters)
      await this.#db.execute(
        sql.raw(
          `select setval(pg_get_serial_sequence('${name}', '${column}'), coalesce(max(${column}), 0) + 1, false) from ${name}`,
        ),
      )
  }

  async #flush(): Promise<void> {
    if (this.#rows.length === 0) return
    const rows = `[${this.#rows.join(',')}]`
    const into = sql.raw(this.#table)
    this.#rows = []
    this.#characters = 0
    try {
      await this.#db.execute(sql`insert into ${into} overriding system value
        select * from json_populate_recordset(null::${into}, ${rows}::text::json)`)
    } catch (thrown) {
      const { code, text } = databaseCauseOf(thrown)
      throw code?.startsWith('22') || code?.startsWith('23') ? dumpRefused(`${text}`, thrown) : thrown
    }
  }
}
