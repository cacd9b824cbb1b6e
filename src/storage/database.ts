import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import type * as schema from './schema.ts'

/** The query builder, whatever engine is below it, and inside a transaction as outside. */
export type Db = PgDatabase<PgQueryResultHKT, typeof schema>

/** A database that is open. */
export interface Database {
  readonly engine: 'pglite' | 'postgres'
  /** What to call it, without a password. */
  readonly name: string
  readonly db: Db
  /** For work that may take minutes: migrations, export, import. Its statements have no time limit. */
  readonly slow: Db
  /** For heartbeats alone: a connection that no other work can take, and that is soon given up where it does not answer. */
  readonly heartbeat: Db
  listen(channel: string, onNotice: (payload: string) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}
