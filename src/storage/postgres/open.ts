import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { TooldexError } from '../../base/errors.ts'
import type { Database, Db } from '../database.ts'
import * as schema from '../schema.ts'
import { connectSocket } from './connect-socket.ts'
import { prepareStatements } from './prepare-statements.ts'
import { type Address, readAddress } from './read-address.ts'
import { type DatabaseSocket, socketError } from './socket.ts'
import { padStartup } from './startup-message.ts'

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
// A heartbeat that is not answered soon is sent again on another line, well within the default lease.
const heartbeatLimits = { connections: 1, connectSeconds: 2, lockMs: 2000, statementMs: 2500, answerMs: 3000 }
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
  const address = readAddress(url)
  const { client, close } = createClient(address, limits)
  const sql = prepareStatements(client)
  const heartbeat = createClient(address, { ...limits, ...heartbeatLimits })
  const slow = createClient(address, { ...limits, connections: 1, statementMs: 0, answerMs: Number.POSITIVE_INFINITY })
  return {
    engine: 'postgres',
    name: address.name,
    db: drizzle(sql, { schema }) as unknown as Db,
    slow: drizzle(slow.client, { schema }) as unknown as Db,
    heartbeat: drizzle(prepareStatements(heartbeat.client), { schema }) as unknown as Db,
    async listen(channel, onNotice) {
      const { unlisten } = await sql.listen(channel, onNotice)
      return unlisten
    },
    close: async () => void (await Promise.all([close(), slow.close(), heartbeat.close()])),
  }
}

/** The driver on lines of our own; once it is closed there is none left, for one that is made while it closes would be forgotten. */
function createClient(address: Address, limits: PostgresLimits) {
  const lines = new Set<DatabaseSocket>()
  let closed = false
  const connect = connectInTurn(address, limits)
  const socket = () => {
    if (closed) throw socketError('CONNECTION_ENDED', 'the database is closed')
    const line = connect()
    lines.add(line)
    return line.once('close', () => lines.delete(line))
  }
  const client = postgres(padStartup(address.rest), { ...driverOptions(limits), socket } as object)
  const close = async () => {
    await client.end({ timeout: closeSeconds })
    closed = true
    for (const line of lines) line.destroy()
  }
  return { client, close }
}

/** The first place that answers will do, unless the driver asks each what it is; then each line starts at the next. */
function connectInTurn(
  { places, tls, anyPlace }: Address,
  { connectSeconds, answerMs }: PostgresLimits,
): () => DatabaseSocket {
  let next = 0
  return () => {
    const at = anyPlace ? 0 : next++ % places.length
    const inTurn = [...places.slice(at), ...places.slice(0, at)]
    return connectSocket({ places: inTurn, tls }, { connectMs: connectSeconds * 1000, answerMs })
  }
}

const driverOptions = (limits: PostgresLimits) => ({
  max: limits.connections,
  connect_timeout: limits.connectSeconds,
  idle_timeout: 60,
  backoff: () => reconnectSeconds,
  // Nothing here is kept in array columns, so their types need not be asked for.
  fetch_types: false,
  // Read by the query builder: it would read a second time what is read already, and make a number of the text "11".
  types: { json: { to: 3802, from: [114, 3802], serialize: asIs, parse: asIs } },
  onnotice: () => {},
  ssl: false,
  connection: {
    application_name: 'tooldex',
    lock_timeout: limits.lockMs,
    statement_timeout: limits.statementMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionMs,
  },
})

function asIs(value: unknown): unknown {
  return value
}
