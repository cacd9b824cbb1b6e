import { getTableName, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import type { Database, Db } from '../database.ts'
import { transactSlowly } from '../guard.ts'
import { apply, type Migration, readApplied, readMigrations, takeMigrationLock } from '../migrate.ts'
import { changeChannel } from '../record.ts'
import { rowsOf } from '../rows-of.ts'
import { proposalStatus, toolStatus } from '../schema.ts'
import { executionStatus } from '../schema-runs.ts'
import { type DumpHeader, type DumpTrailer, dumpRefused } from './format.ts'
import { RowInserter } from './insert-rows.ts'
import { readDump } from './read-dump.ts'
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
    await apply(db, migrations)
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
  const applied = await readApplied(db)
  if (applied.length === dumped.length) {
    await db.execute(sql.raw(`truncate ${names.join(', ')}`))
    return
  }
  await db.execute(sql.raw(`drop table if exists ${names.join(', ')}, workers, tooldex_migrations cascade`))
  await db.execute(sql.raw(`drop type if exists ${enums.map(({ enumName }) => enumName).join(', ')}`))
  await apply(db, shipped.slice(0, dumped.length))
  const created = rowsOf<{ name: string }>(
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
    const found = rowsOf(await db.execute(sql.raw(`select 1 as found from ${name} limit ${maxRows + 1}`)))
    if (found.length <= maxRows) continue
    throw new TooldexError('IN_USE', `The database is not empty: the table ${name} has rows.`, {
      hint: 'Import into an empty database, or use --replace to delete the contents of this one.',
    })
  }
}
