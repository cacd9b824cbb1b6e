import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { TooldexError } from '../base/errors.ts'
import type { Database } from './database.ts'
import { databaseCauseOf } from './failures.ts'
import { guard } from './guard.ts'
import type { PostgresLimits } from './postgres/open.ts'

export type { Database } from './database.ts'
export { dumpRefused, readDump } from './dump/read-dump.ts'
export { restoreDump } from './dump/restore-dump.ts'
export { countRows, writeDump } from './dump/write-dump.ts'
export { findNewerMigrations, migrate, readMigrationState, readMigrations } from './migrate.ts'
export { createStores } from './stores.ts'

/** Opens the database at `url`, or the embedded one below `home`; without either a database in memory. */
export async function openDatabase({
  url,
  home,
  limits,
  inThread = false,
}: {
  url?: string | undefined
  home?: string | undefined
  limits?: Partial<PostgresLimits>
  /** For servers: the embedded engine runs in a worker thread, so that no statement blocks the event loop. */
  inThread?: boolean
}): Promise<Database> {
  // Only the engine in use is loaded.
  if (url !== undefined && url !== '') return (await import('./postgres/open.ts')).openPostgres(url, limits)
  return (await import('./pglite/open.ts')).openPglite(home === undefined ? undefined : join(home, 'db'), inThread)
}

const pauseMs = 250
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'host not found',
  ETIMEDOUT: 'connection timed out',
  CONNECT_TIMEOUT: 'connection timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ENOENT: 'no such socket',
}

/** Waits for a database that is not available yet; after `ms` throws the last error with the name of the database. */
export async function waitForDatabase(
  { db, name }: Pick<Database, 'db' | 'name'>,
  { ms, onWait, signal }: { ms: number; onWait?: (reason: string) => void; signal?: AbortSignal | undefined },
): Promise<void> {
  const end = performance.now() + ms
  for (let announced = false; ; ) {
    try {
      await guard(() => db.execute(sql`select 1`))
      return
    } catch (thrown) {
      const error = toUnavailable(thrown, name)
      if (isFinal(thrown) || performance.now() + pauseMs > end) throw error
      if (!announced) onWait?.(error.message)
      announced = true
      await sleep(pauseMs, undefined, { signal })
    }
  }
}

/** A wrong password, an unknown database, another kind of server or a TLS failure is not temporary. */
function isFinal(thrown: unknown): boolean {
  const { code = '' } = databaseCauseOf(thrown)
  const isUnavailable = thrown instanceof TooldexError && thrown.code === 'UNAVAILABLE'
  return (
    !isUnavailable || code.startsWith('28') || code === '3D000' || code === 'TLS_REFUSED' || code === 'NOT_POSTGRES'
  )
}

function toUnavailable(thrown: unknown, name: string): TooldexError {
  const reason = reasons[databaseCauseOf(thrown).code ?? '']
  if (reason !== undefined)
    return new TooldexError('UNAVAILABLE', `PostgreSQL at ${name} does not answer: ${reason}.`, {
      hint: 'Start it, or correct host and port in DATABASE_URL.',
      cause: thrown,
    })
  const message = thrown instanceof TooldexError ? thrown.message : 'The database does not answer.'
  return new TooldexError('UNAVAILABLE', `${message} (${name})`, {
    hint:
      isFinal(thrown) && thrown instanceof TooldexError ? thrown.hint : 'Start the database, or check DATABASE_URL.',
    cause: thrown,
  })
}
