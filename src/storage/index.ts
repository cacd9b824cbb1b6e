import { join } from 'node:path'
import type { Database } from './database.ts'
import type { PostgresLimits } from './postgres/open.ts'

export type { Database } from './database.ts'
export { dumpRefused, readDump } from './dump/read-dump.ts'
export { restoreDump } from './dump/restore-dump.ts'
export { countRows, writeDump } from './dump/write-dump.ts'
export { findNewerMigrations, migrate, readMigrations, readState } from './migrate.ts'
export { createStores } from './stores.ts'
export { waitForDatabase } from './wait-for-database.ts'

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
