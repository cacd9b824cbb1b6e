import { sql } from 'drizzle-orm'
import { type Database, type Db, rowsOf } from './database.ts'
import { guard } from './guard.ts'

const concurrently = /^\s*create (unique )?index concurrently "(\w+)"/i
// An arbitrary number that all processes share.
const lockNumber = 7_331_002

/** Whether a statement of a migration builds an index without blocking writes to its table. */
export const isConcurrent = (statement: string): boolean => concurrently.test(statement)

/** The statement without `concurrently`, for use inside a transaction. */
export const toPlainIndex = (statement: string): string => statement.replace(/ concurrently /i, ' ')

/**
 * Builds the indexes that migrations defer: on a large table this takes minutes, in which other processes must be able to write.
 * One process builds; a killed build leaves an invalid index, which the next start replaces.
 */
export async function buildIndexes(
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
  const [lock] = rowsOf<{ taken: boolean }>(
    await db.execute(sql`select pg_try_advisory_lock(${lockNumber}) as taken, set_config('lock_timeout', '0', false)`),
  )
  if (lock?.taken !== true) return
  try {
    for (const name of await findUnbuilt(db, [...expected.keys()])) {
      onStep(`index ${name}`)
      await db.execute(sql.raw(`drop index concurrently if exists "${name}"`))
      await db.execute(sql.raw(expected.get(name) as string))
    }
  } finally {
    await db.execute(sql`select pg_advisory_unlock(${lockNumber})`)
  }
}

/** The indexes of a list that are missing or invalid. */
async function findUnbuilt(db: Db, names: readonly string[]): Promise<readonly string[]> {
  const rows = rowsOf<{ name: string }>(
    await db.execute(sql`select name from jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) as expected (name)
      where not exists (select 1 from pg_index where indexrelid = to_regclass('public.' || quote_ident(name)) and indisvalid)`),
  )
  return rows.map(({ name }) => name)
}
