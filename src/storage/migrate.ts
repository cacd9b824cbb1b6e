import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { TooldexError } from '../base/errors.ts'
import { reachPoint } from '../base/fault-points.ts'
import { migrationsDir } from '../base/package-info.ts'
import { buildIndexes, isConcurrent, toPlainIndex } from './build-indexes.ts'
import type { Database, Db } from './database.ts'
import { causeOf } from './failures.ts'
import { guard, transactSlowly } from './guard.ts'
import { convertRows, renameOldTables } from './legacy/convert.ts'
import { checkNoConflicts, hasOlderShape } from './legacy/tables.ts'
import { rowsOf } from './rows-of.ts'

/** A step of the schema, as it is shipped. */
export interface Migration {
  readonly name: string
  readonly statements: readonly string[]
  readonly hash: string
}

/** What was done to a database, and what is still to do. */
export interface MigrationState {
  readonly applied: readonly { readonly name: string; readonly appliedAt: string }[]
  readonly pending: readonly string[]
  /** Tables of the first data model, before versions were numbers. */
  readonly olderShape: boolean
}

// Any number will do, as long as all processes take the same.
const lockNumber = 7_331_001
const lockWaitMs = 120_000

/** Brings a database up to date, all or nothing; whoever comes second waits for the first and finds nothing to do. */
export async function migrate(
  database: Database,
  onStep: (name: string) => void = () => {},
  migrations: readonly Migration[] = readMigrations(),
): Promise<void> {
  // Nobody else changes an embedded database while it is open, so that no lock is needed to find nothing to do.
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

/** Whether all steps are taken; a database of another release is refused. */
async function isCurrent(db: Db, migrations: readonly Migration[]): Promise<boolean> {
  const applied = new Map((await guard(() => readApplied(db))).map((row) => [row.name, row.hash]))
  checkOnlyKnown(migrations, applied)
  return applied.size === migrations.length
}

interface ApplyOptions {
  readonly onStep?: (name: string) => void
  /** Indexes of a table that has rows are built after the transaction, so that nobody waits for them. */
  readonly indexesLater?: boolean
}

async function migrateInside(db: Db, migrations: readonly Migration[], options: ApplyOptions): Promise<void> {
  const { onStep = () => {} } = options
  const older = await hasOlderShape(db)
  if (older) {
    onStep('tables of the older shape are set aside')
    await renameOldTables(db)
  }
  const statements = migrations.flatMap((migration) => migration.statements)
  await checkNoConflicts(db, statements)
  await apply(db, migrations, options)
  if (older) await convertRows(db, onStep)
}

/** Whoever changes the shape of the database does it alone. */
export async function takeMigrationLock(db: Db): Promise<void> {
  await db.execute(sql.raw(`set local lock_timeout = ${lockWaitMs}`))
  await db.execute(sql`select pg_advisory_xact_lock(${lockNumber})`)
}

/** A statement that fails is named by what the engine says, except where the engine is away or others are in the way. */
function asMigrationFailure(thrown: unknown): unknown {
  const { code, text } = causeOf(thrown)
  if (thrown instanceof TooldexError || code === undefined || /^(08|40|53|55|57|[A-Z])/.test(code)) return thrown
  return new TooldexError('MIGRATION_FAILED', `The database could not be migrated: ${text}.`, { cause: thrown })
}

/** How far a database is. */
export async function readState({ db }: Database): Promise<MigrationState> {
  return guard(async () => {
    const applied = await readApplied(db)
    const known = new Set(applied.map(({ name }) => name))
    return {
      applied: applied.map(({ name, appliedAt }) => ({ name, appliedAt })),
      pending: readMigrations()
        .map(({ name }) => name)
        .filter((name) => !known.has(name)),
      olderShape: await hasOlderShape(db),
    }
  })
}

/** The migrations in a database that this release does not know. */
export async function findNewerMigrations({ db }: Database): Promise<readonly string[]> {
  const known = new Set(readMigrations().map(({ name }) => name))
  const applied = await guard(() => readApplied(db))
  return applied.map(({ name }) => name).filter((name) => !known.has(name))
}

/** Takes the steps that are not taken yet. */
export async function apply(
  db: Db,
  migrations: readonly Migration[],
  { onStep, indexesLater = false }: ApplyOptions = {},
): Promise<void> {
  await db.execute(sql`create table if not exists tooldex_migrations (
    name text primary key, hash text not null, applied_at timestamptz(3) not null default now())`)
  const applied = new Map((await readApplied(db)).map((row) => [row.name, row.hash]))
  checkOnlyKnown(migrations, applied)
  for (const { name, statements, hash } of migrations) {
    if (applied.has(name)) continue
    onStep?.(name)
    for (const statement of statements) {
      if (indexesLater && applied.size > 0 && isConcurrent(statement)) continue
      await db.execute(sql.raw(isConcurrent(statement) ? toPlainIndex(statement) : statement))
      reachPoint('F9 migration step')
    }
    await db.execute(sql`insert into tooldex_migrations (name, hash) values (${name}, ${hash})`)
  }
}

/** Migrations are only ever added: one that is unknown or different means that another release was here. */
function checkOnlyKnown(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): void {
  const shipped = new Map(migrations.map(({ name, hash }) => [name, hash]))
  for (const [name, hash] of applied) {
    if (shipped.get(name) === hash) continue
    const what = shipped.has(name) ? 'differs from the one in this release' : 'is not known to this release'
    throw new TooldexError('MIGRATION_FAILED', `The migration ${name} in the database ${what}.`, {
      hint: 'Use the release that the database belongs to, or a newer one.',
    })
  }
}

/** The steps that were taken, in their order. */
export async function readApplied(db: Db) {
  const there = await db.execute(sql`select to_regclass('public.tooldex_migrations') is not null as there`)
  if (rowsOf<{ there: boolean }>(there)[0]?.there !== true) return []
  const rows = rowsOf<{ name: string; hash: string; applied_at: string | Date }>(
    await db.execute(sql`select name, hash, applied_at from tooldex_migrations order by name`),
  )
  return rows.map((row) => ({ name: row.name, hash: row.hash, appliedAt: new Date(row.applied_at).toISOString() }))
}

/** The steps that this release knows, in their order. */
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
