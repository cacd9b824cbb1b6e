import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import type { Database, Db } from '../database.ts'
import * as schema from '../schema.ts'

// Everything that waits has an end: for a connection, for a lock, for an answer.
const limits = { connectSeconds: 5, lockMs: 3000, statementMs: 15_000, idleInTransactionMs: 20_000, connections: 10 }

/** Connects to a PostgreSQL server; connections are made when they are needed. */
export function openPostgres(url: string): Database {
  const sql = postgres(url, {
    max: limits.connections,
    connect_timeout: limits.connectSeconds,
    idle_timeout: 60,
    onnotice: () => {},
    connection: {
      application_name: 'tooldex',
      lock_timeout: limits.lockMs,
      statement_timeout: limits.statementMs,
      idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    },
  })
  return {
    engine: 'postgres',
    name: nameOf(url),
    db: drizzle(sql, { schema }) as unknown as Db,
    execute: async (statements) => void (await sql.unsafe(statements)),
    async listen(channel, onNotice) {
      const { unlisten } = await sql.listen(channel, onNotice)
      return unlisten
    },
    close: () => sql.end({ timeout: 5 }),
  }
}

/** Where the database is, without who asks. */
function nameOf(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `${host}${pathname}`
  } catch {
    return 'postgres'
  }
}
