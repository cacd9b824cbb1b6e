import { setTimeout as sleep } from 'node:timers/promises'
import { PgTransaction } from 'drizzle-orm/pg-core'
import { TooldexError } from '../base/errors.ts'
import { withPending } from './audit/chain-entries.ts'
import type { Db } from './database.ts'
import { databaseCauseOf, isConflict, isOutOfConnections, toStorageError } from './failures.ts'

const maxAttempts = 4
/** The maximum wait of a caller for the database, including the pool, locks and retries. */
const deadlineMs = 20_000
/** The maximum wait for a connection while the database or its pooler has none free. */
const connectionMs = 5000

/** Runs work on the database: conflicts are retried, other failures become a TooldexError. */
export async function guard<Result>(
  work: (isLate: () => boolean) => Promise<Result>,
  { withinMs = deadlineMs, attempts = maxAttempts }: { withinMs?: number; attempts?: number } = {},
): Promise<Result> {
  const end = performance.now() + withinMs
  const connected = performance.now() + Math.min(connectionMs, withinMs)
  const isLate = () => performance.now() > end
  for (let attempt = 1; ; attempt++) {
    try {
      return await within(end - performance.now(), work(isLate))
    } catch (thrown) {
      const failure = databaseCauseOf(thrown)
      if (isOutOfConnections(failure) && performance.now() < connected) {
        await sleep(Math.random() * 200)
        attempt--
        continue
      }
      if (!isConflict(failure.code) || attempt >= attempts || isLate()) throw toStorageError(thrown)
      await sleep(Math.random() * 20 * 2 ** attempt)
    }
  }
}

/** Runs work in a guarded transaction, then writes its audit entries; rolled back where it ends after its caller has received the timeout error. */
export function transact<Result>(
  db: Db,
  work: (db: Db) => Promise<Result>,
  { withinMs = deadlineMs }: { readonly withinMs?: number | undefined } = {},
): Promise<Result> {
  const attempt = (isLate: () => boolean) =>
    db.transaction(async (transaction) => {
      const result = await withPending(db, transaction as unknown as Db, work)
      if (isLate()) throw tooLate()
      return result
    })
  // A nested transaction cannot be retried alone.
  return guard(attempt, db instanceof PgTransaction ? { withinMs, attempts: 1 } : { withinMs })
}

/** Runs work that may take minutes in a transaction. */
export function transactSlowly<Result>(
  db: Db,
  work: (db: Db) => Promise<Result>,
  config?: Parameters<Db['transaction']>[1],
): Promise<Result> {
  return guard(() => db.transaction((transaction) => work(transaction as unknown as Db), config), {
    withinMs: Number.POSITIVE_INFINITY,
  })
}

function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  if (!Number.isFinite(ms)) return work
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooLate()), Math.max(ms, 0))
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

const tooLate = () =>
  new TooldexError('UNAVAILABLE', 'The database did not answer in time.', {
    hint: 'Check whether the change was made, then try again.',
  })
