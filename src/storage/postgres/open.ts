import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { TooldexError } from '../../base/errors.ts'
import { readSetting } from '../../rules/settings.ts'
import type { Database, Db } from '../database.ts'
import * as schema from '../schema.ts'
import { type Address, type HostAddress, readPostgresAddress, type Tls } from './read-postgres-address.ts'
import { createSocketError, DatabaseSocket, padStartup } from './socket.ts'

/** Timeouts and limits; every wait is bounded. */
export interface PostgresLimits {
  /** For a connection, including authentication. */
  readonly connectSeconds: number
  readonly lockMs: number
  readonly statementMs: number
  /** For a response, where the server does not enforce its own timeout. */
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
  connections: readSetting('TOOLDEX_DATABASE_CONNECTIONS', {}),
}
// A heartbeat without a response is repeated on another connection, well within the default lease.
const heartbeatLimits = { connections: 1, connectSeconds: 2, lockMs: 2000, statementMs: 2500, answerMs: 3000 }
// The pause between attempts to reconnect.
const reconnectSeconds = 0.2
// Statements that have not ended by then are aborted.
const closeSeconds = 2

/** Opens a PostgreSQL database; connections are opened on demand. */
export function openPostgres(url: string, own: Partial<PostgresLimits> = {}): Database {
  const limits = { ...defaultLimits, ...own }
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new TooldexError('USAGE', 'DATABASE_URL is not a valid PostgreSQL URL.', {
      hint: 'Write postgres://user:password@host:5432/database',
    })
  const address = readPostgresAddress(url)
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

/** The driver on own sockets; `close` destroys them all, because the driver forgets a socket that is opened during its end. */
function createClient(address: Address, limits: PostgresLimits) {
  const sockets = new Set<DatabaseSocket>()
  let closed = false
  const connect = connectInTurn(address, limits)
  const socket = () => {
    if (closed) throw createSocketError('CONNECTION_ENDED', 'the database is closed')
    const opened = connect()
    sockets.add(opened)
    return opened.once('close', () => sockets.delete(opened))
  }
  const client = postgres(padStartup(address.rest), { ...driverOptions(limits), socket } as object)
  const close = async () => {
    await client.end({ timeout: closeSeconds })
    closed = true
    for (const opened of sockets) opened.destroy()
  }
  return { client, close }
}

/** Starts at the first host, or, where the driver checks the role of each host, at the next one for each connection. */
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
  // No column is an array, so array types need not be fetched.
  fetch_types: false,
  // Left to the query builder: parsing JSON twice would turn the string "11" into a number.
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

// Long statements contain many rows and are never repeated.
const maxLength = 4000

// The best plan for such a condition depends on its values, so it is planned each time.
const dependsOnValues = / ilike | @> /

type Client = postgres.Sql | postgres.TransactionSql

/** Uses prepared statements: otherwise the server parses and plans each one again, in two round trips instead of one. */
function prepareStatements(sql: postgres.Sql): postgres.Sql {
  prepareOn(sql)
  const begin = sql.begin as unknown as (...args: unknown[]) => unknown
  sql.begin = ((...args: unknown[]) => {
    const work = args.pop() as (inner: postgres.TransactionSql) => unknown
    return begin(...args, (inner: postgres.TransactionSql) => work(prepareOn(inner)))
  }) as typeof sql.begin
  return sql
}

function prepareOn<AnyClient extends Client>(client: AnyClient): AnyClient {
  const unsafe = client.unsafe as unknown as (text: string, values?: unknown, options?: object) => unknown
  const prepared = (text: string, values?: unknown, options?: object) =>
    unsafe(text, values, { ...options, prepare: text.length < maxLength && !dependsOnValues.test(text) })
  ;(client as { unsafe: unknown }).unsafe = prepared
  if ('savepoint' in client) {
    const savepoint = client.savepoint as unknown as (...args: unknown[]) => unknown
    ;(client as { savepoint: unknown }).savepoint = (...args: unknown[]) => {
      const work = args.pop() as (inner: postgres.TransactionSql) => unknown
      return savepoint(...args, (inner: postgres.TransactionSql) => work(prepareOn(inner)))
    }
  }
  return client
}

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** Timeouts in milliseconds. */
interface SocketTimeouts {
  readonly connectMs: number
  readonly answerMs: number
}

/** Connects to the first reachable host; failures are emitted on the returned socket. */
function connectSocket(
  { places, tls }: Pick<Address, 'places' | 'tls'>,
  { connectMs, answerMs }: SocketTimeouts,
): DatabaseSocket {
  const line = new DatabaseSocket(answerMs)
  const closing = new AbortController()
  line.once('close', () => closing.abort())
  reach({ places, tls, eachMs: connectMs / places.length, signal: closing.signal }).then(
    (socket) => line.attach(socket),
    (error: Error) => line.lose(error),
  )
  return line
}

interface Reach extends Pick<Address, 'places' | 'tls'> {
  readonly eachMs: number
  readonly signal: AbortSignal
}

async function reach({ places, tls, eachMs, signal }: Reach): Promise<Socket> {
  let failure: unknown
  for (const host of places) {
    try {
      return await reachPlace(host, tls, AbortSignal.any([signal, AbortSignal.timeout(eachMs)]))
    } catch (error) {
      failure = error
    }
    if (signal.aborted) break
  }
  throw failure
}

async function reachPlace(host: HostAddress, tls: Tls | undefined, signal: AbortSignal): Promise<Socket> {
  const socket = 'path' in host ? connect(host.path) : connect(host.port, host.host)
  // `nextEvent` rejects on errors; between two calls an error without a listener would end the process.
  socket.on('error', () => {})
  const giveUp = () => socket.destroy(createSocketError('ETIMEDOUT', 'the server did not respond in time'))
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    await nextEvent(socket, 'connect')
    socket.setNoDelay(true)
    // A local socket cannot be intercepted on the network.
    return tls === undefined || 'path' in host ? socket : await secure(socket, host.host, tls)
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** Requests TLS, and continues without it only where sslmode makes it optional. */
async function secure(socket: Socket, host: string, { optional, checked, named, ca }: Tls): Promise<Socket> {
  socket.write(sslRequest)
  const [response] = (await nextEvent(socket, 'data')) as Buffer
  if (response !== 'S'.charCodeAt(0)) {
    if (optional) return socket
    throw createSocketError('TLS_REFUSED', 'the server does not offer TLS')
  }
  const secured = connectTls({
    socket,
    rejectUnauthorized: checked,
    ...(isIP(host) ? { host } : { servername: host }),
    ...(ca === undefined ? {} : { ca }),
    ...(named ? {} : { checkServerIdentity: () => undefined }),
  })
  secured.on('error', () => {})
  await nextEvent(secured, 'secureConnect').catch((error: Error) => {
    throw createSocketError('TLS_REFUSED', error.message)
  })
  return secured
}

function nextEvent(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve)
    socket.once('error', reject)
    socket.once('close', () => reject(createSocketError('CONNECTION_CLOSED', 'the server closed the connection')))
  })
}
