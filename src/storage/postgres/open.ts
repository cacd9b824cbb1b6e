import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { TooldexError } from '../../base/errors.ts'
import type { Database, Db } from '../database.ts'
import * as schema from '../schema.ts'
import { connectLine } from './connect-line.ts'
import { prepareStatements } from './prepare-statements.ts'

/** How long things may take: everything that waits has an end. */
export interface PostgresLimits {
  /** For a connection to be there, log-in included. */
  readonly connectSeconds: number
  readonly lockMs: number
  readonly statementMs: number
  /** For an answer to come, where the server itself does not give up. */
  readonly answerMs: number
  readonly idleInTransactionMs: number
  readonly connections: number
}

const defaultLimits: PostgresLimits = {
  connectSeconds: 5,
  lockMs: 3000,
  statementMs: 15_000,
  answerMs: 18_000,
  idleInTransactionMs: 20_000,
  connections: 10,
}
// A server that comes back is found again this soon.
const reconnectSeconds = 0.2
// Whoever is not done by then is cut off.
const closeSeconds = 2

/** Connects to a PostgreSQL server; connections are made when they are needed. */
export function openPostgres(url: string, own: Partial<PostgresLimits> = {}): Database {
  const limits = { ...defaultLimits, ...own }
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new TooldexError('USAGE', 'DATABASE_URL is not the address of a PostgreSQL database.', {
      hint: 'Write postgres://user:password@host:5432/database',
    })
  const sql = prepareStatements(createClient(url, limits))
  const slow = createClient(url, { ...limits, connections: 1, statementMs: 0, answerMs: Number.POSITIVE_INFINITY })
  return {
    engine: 'postgres',
    name: nameOf(url),
    db: drizzle(sql, { schema }) as unknown as Db,
    slow: drizzle(slow, { schema }) as unknown as Db,
    async listen(channel, onNotice) {
      const { unlisten } = await sql.listen(channel, onNotice)
      return unlisten
    },
    close: async () =>
      void (await Promise.all([sql.end({ timeout: closeSeconds }), slow.end({ timeout: closeSeconds })])),
  }
}

function createClient(url: string, limits: PostgresLimits): postgres.Sql {
  const { ssl } = read(url)
  let attempts = 0
  const socket = ({ host, port, path }: { host: string[]; port: number[]; path?: string }) => {
    const at = attempts++ % host.length
    return connectLine({ host: host[at] ?? 'localhost', port: port[at] ?? 5432, path, ssl }, limits.answerMs)
  }
  const options = {
    max: limits.connections,
    connect_timeout: limits.connectSeconds,
    idle_timeout: 60,
    backoff: () => reconnectSeconds,
    // Nothing here is kept in array columns, so their types need not be asked for.
    fetch_types: false,
    onnotice: () => {},
    ssl: false,
    socket,
    connection: {
      application_name: 'tooldex',
      lock_timeout: limits.lockMs,
      statement_timeout: limits.statementMs,
      idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    },
  } as const
  return postgres(url, options as unknown as postgres.Options<Record<string, never>>)
}

/** What the driver makes of the address; nothing is connected yet. */
function read(url: string): { readonly ssl: unknown } {
  try {
    return postgres(url, { max: 1 }).options as { ssl: unknown }
  } catch (cause) {
    throw new TooldexError('USAGE', 'DATABASE_URL cannot be read.', {
      hint: 'Write postgres://user:password@host:5432/database, with %XX for odd characters.',
      cause,
    })
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
