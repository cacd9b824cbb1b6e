import { TooldexError } from '../../base/errors.ts'
import type { Stores } from '../../contract/stores.ts'
import type { RecordedRuns } from '../../runs/recorded-runs.ts'
import { type Database, findNewerMigrations } from '../../storage/index.ts'

/** Readiness check: throws if the process is stopping or the database accepts no writes; returns warnings. */
export async function checkReady(database: Database, stores: Stores, runs: RecordedRuns): Promise<readonly string[]> {
  if (runs.isClosing) throw new TooldexError('SHUTTING_DOWN', 'This process is stopping.')
  await stores.ping()
  await runs.renewLease()
  const newer = await findNewerMigrations(database)
  if (newer.length === 0) return []
  const names = newer.join(', ')
  return [`The schema of the database is newer than this process: it has ${names}. Upgrade this process.`]
}
