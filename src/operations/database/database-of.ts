import { TooldexError } from '../../base/errors.ts'
import type { Database } from '../../storage/index.ts'
import type { OperationContext } from '../operation.ts'

/** The database of the context; most operations on tools of configs have none. */
export function databaseOf({ database }: OperationContext): Database {
  if (database !== undefined) return database
  throw new TooldexError('UNAVAILABLE', 'No database is open here.', { hint: 'Set DATABASE_URL or TOOLDEX_HOME.' })
}
