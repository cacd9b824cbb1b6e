import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { TooldexError } from '../base/errors.ts'
import { migrationsDir } from '../base/package-info.ts'
import { reachPoint } from '../rules/fault-points.ts'
import { chainExistingRows } from './audit/chain-entries.ts'
import { type Database, type Db, rowsOfResult } from './database.ts'
import { databaseCauseOf } from './failures.ts'
import { guard, transactSlowly } from './guard.ts'
import { convertRows, renameOldTables } from './legacy/convert.ts'
import { checkNoConflicts, hasOlderShape } from './legacy/tables.ts'

/** A migration of this release. */
export interface Migration {
  readonly name: string
  readonly statements: readonly string[]
  readonly hash: string
}

/** The applied and pending migrations of a database. */
interface MigrationState {
  readonly applied: readonly { readonly name: string; readonly appliedAt: string }[]
  readonly pending: readonly string[]
  /** Whether there are tables of the first data model, in which versions were strings. */
  readonly olderShape: boolean
}

// An arbitrary number that all processes share.
const lockNumber = 7_331_001
const lockWaitMs = 120_000

/** Migrates a database, all or nothing; a second process waits for the first and finds nothing to do. */
export async function migrate(
  database: Database,
  onStep: (name: string) => void = () => {},
  migrations: readonly Migration[] = readMigrations(),
): Promise<void> {
  // An embedded database has no other writer, so no lock is needed to find nothing to do.
  if (database.engine === 'pglite' && (await isCurrent(database.db, migrations))) return
  await transactSlowly(database.slow, async (db) => {
    await takeMigrationLock(db)
    try {
      await migrateInside(db, migrations, { onStep, indexesLater: database.engine === 'postgres' })
    } catch (thrown) {
      throw asMigrationFailure(thrown)
    }
  })
  await buildIndexes(
    database,
    migrations.flatMap(({ statements }) => statements),
    onStep,
  )
}

/** Whether all migrations are applied; a database of another release is rejected. */
async function isCurrent(db: Db, migrations: readonly Migration[]): Promise<boolean> {
  const applied = new Map((await guard(() => readAppliedMigrations(db))).map((row) => [row.name, row.hash]))
  checkOnlyKnown(migrations, applied)
  return applied.size === migrations.length
}

interface ApplyOptions {
  readonly onStep?: (name: string) => void
  /** Whether indexes of tables with rows are built after the transaction, without blocking other processes. */
  readonly indexesLater?: boolean
}

async function migrateInside(db: Db, migrations: readonly Migration[], options: ApplyOptions): Promise<void> {
  const { onStep = () => {} } = options
  const older = await hasOlderShape(db)
  if (older) {
    onStep('tables of the first data model moved to the schema tooldex_before')
    await renameOldTables(db)
  }
  const statements = migrations.flatMap((migration) => migration.statements)
  await checkNoConflicts(db, statements)
  await applyMigrations(db, migrations, options)
  if (older) await convertRows(db, onStep)
}

/** Serializes schema changes. */
export async function takeMigrationLock(db: Db): Promise<void> {
  await db.execute(sql.raw(`set local lock_timeout = ${lockWaitMs}`))
  await db.execute(sql`select pg_advisory_xact_lock(${lockNumber})`)
}

/** Adds the message of the engine to a failed statement, except for outages and conflicts. */
function asMigrationFailure(thrown: unknown): unknown {
  const { code, text } = databaseCauseOf(thrown)
  if (thrown instanceof TooldexError || code === undefined || /^(08|40|53|55|57|[A-Z])/.test(code)) return thrown
  return new TooldexError('MIGRATION_FAILED', `The database could not be migrated: ${text}.`, { cause: thrown })
}

/** Returns the migration status. */
export async function readMigrationState({ db }: Database): Promise<MigrationState> {
  return guard(async () => {
    const applied = await readAppliedMigrations(db)
    const names = new Set(applied.map(({ name }) => name))
    return {
      applied: applied.map(({ name, appliedAt }) => ({ name, appliedAt })),
      pending: readMigrations()
        .map(({ name }) => name)
        .filter((name) => !names.has(name)),
      olderShape: await hasOlderShape(db),
    }
  })
}

/** The applied migrations that are unknown to this release. */
export async function findNewerMigrations({ db }: Database): Promise<readonly string[]> {
  const known = new Set(readMigrations().map(({ name }) => name))
  const applied = await guard(() => readAppliedMigrations(db))
  return applied.map(({ name }) => name).filter((name) => !known.has(name))
}

/** The end of the name of the migration after which existing audit rows are chained. */
const auditChain = '_audit_chain'

/** Applies the pending migrations. */
export async function applyMigrations(
  db: Db,
  migrations: readonly Migration[],
  { onStep, indexesLater = false }: ApplyOptions = {},
): Promise<void> {
  await db.execute(sql`create table if not exists tooldex_migrations (
    name text primary key, hash text not null, applied_at timestamptz(3) not null default now())`)
  const applied = new Map((await readAppliedMigrations(db)).map((row) => [row.name, row.hash]))
  checkOnlyKnown(migrations, applied)
  for (const { name, statements, hash } of migrations) {
    if (applied.has(name)) continue
    onStep?.(name)
    for (const statement of statements) {
      if (indexesLater && applied.size > 0 && isConcurrent(statement)) continue
      await db.execute(sql.raw(isConcurrent(statement) ? toPlainIndex(statement) : statement))
      reachPoint('F9 migration step')
    }
    if (name.endsWith(auditChain)) await chainExistingRows(db)
    await db.execute(sql`insert into tooldex_migrations (name, hash) values (${name}, ${hash})`)
  }
}

/** Migrations are only ever added, so an unknown or different one belongs to another release. */
function checkOnlyKnown(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): void {
  const shipped = new Map(migrations.map(({ name, hash }) => [name, hash]))
  for (const [name, hash] of applied) {
    if (shipped.get(name) === hash) continue
    const difference = shipped.has(name) ? 'differs from the one in this release' : 'is unknown to this release'
    throw new TooldexError('MIGRATION_FAILED', `The migration ${name} in the database ${difference}.`, {
      hint: 'Use the release that migrated the database, or a newer one.',
    })
  }
}

/** The applied migrations in their order. */
export async function readAppliedMigrations(db: Db) {
  const found = await db.execute(sql`select to_regclass('public.tooldex_migrations') is not null as found`)
  if (rowsOfResult<{ found: boolean }>(found)[0]?.found !== true) return []
  const rows = rowsOfResult<{ name: string; hash: string; applied_at: string | Date }>(
    await db.execute(sql`select name, hash, applied_at from tooldex_migrations order by name`),
  )
  return rows.map((row) => ({ name: row.name, hash: row.hash, appliedAt: new Date(row.applied_at).toISOString() }))
}

/** The migrations of this release in their order. */
export function readMigrations(folder: string = migrationsDir): readonly Migration[] {
  const journal = JSON.parse(readFileSync(join(folder, 'meta', '_journal.json'), 'utf8')) as {
    entries: readonly { tag: string }[]
  }
  return journal.entries.map(({ tag }) => {
    const text = readFileSync(join(folder, `${tag}.sql`), 'utf8')
    return {
      name: tag,
      statements: text.split('--> statement-breakpoint'),
      hash: createHash('sha256').update(text).digest('hex'),
    }
  })
}

const concurrently = /^\s*create (unique )?index concurrently "(\w+)"/i
// An arbitrary number that all processes share.
const indexLockNumber = 7_331_002

/** Whether a statement of a migration builds an index without blocking writes to its table. */
const isConcurrent = (statement: string): boolean => concurrently.test(statement)

/** The statement without `concurrently`, for use inside a transaction. */
const toPlainIndex = (statement: string): string => statement.replace(/ concurrently /i, ' ')

/**
 * Builds the indexes that migrations defer: on a large table this takes minutes, in which other processes must be able to write.
 * One process builds; a killed build leaves an invalid index, which the next start replaces.
 */
async function buildIndexes(
  { engine, slow }: Database,
  statements: readonly string[],
  onStep: (name: string) => void,
): Promise<void> {
  if (engine === 'pglite') return
  const expected = new Map(
    statements.filter(isConcurrent).map((text) => [concurrently.exec(text)?.[2] as string, text]),
  )
  if ((await findUnbuilt(slow, [...expected.keys()])).length === 0) return
  await guard(() => buildMissing(slow, expected, onStep), { withinMs: Number.POSITIVE_INFINITY })
}

async function buildMissing(db: Db, expected: ReadonlyMap<string, string>, onStep: (name: string) => void) {
  // Waiting for the lock would block its owner, because an index build waits for all transactions.
  const [lock] = rowsOfResult<{ taken: boolean }>(
    await db.execute(
      sql`select pg_try_advisory_lock(${indexLockNumber}) as taken, set_config('lock_timeout', '0', false)`,
    ),
  )
  if (lock?.taken !== true) return
  try {
    for (const name of await findUnbuilt(db, [...expected.keys()])) {
      onStep(`index ${name}`)
      await db.execute(sql.raw(`drop index concurrently if exists "${name}"`))
      await db.execute(sql.raw(expected.get(name) as string))
    }
  } finally {
    await db.execute(sql`select pg_advisory_unlock(${indexLockNumber})`)
  }
}

/** The indexes of a list that are missing or invalid. */
async function findUnbuilt(db: Db, names: readonly string[]): Promise<readonly string[]> {
  const rows = rowsOfResult<{ name: string }>(
    await db.execute(sql`select name from jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) as expected (name)
      where not exists (select 1 from pg_index where indexrelid = to_regclass('public.' || quote_ident(name)) and indisvalid)`),
  )
  return rows.map(({ name }) => name)
}
