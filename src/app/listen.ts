import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { TooldexError } from '../base/errors.ts'
import {
  type createRestApp,
  plainProblem,
  problemResponse,
  readHostList,
  readTrustedProxies,
} from '../surfaces/rest/index.ts'

// A client that sends its head or its body too slowly is let go.
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // A proxy that reuses a connection just as the server closes it answers its client with 502, so the server closes last.
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2000,
}
const portsToTry = 20
const lastPort = 65_535
/** How long a stopping server waits for its last answers to be sent. */
const lastAnswersMs = 3000

/** Where to listen, and whom to tell. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly say: (line: string) => void
  /** For how long a connection without requests stays open, in place of the default. */
  readonly keepAliveMs?: number | undefined
}

/** The names by which a server may be asked, the one that it listens on among them, and the proxies that it believes. */
export const readSiteSettings = (env: NodeJS.ProcessEnv, host: string) => ({
  allowedHosts: [host.toLowerCase(), ...readHostList(env.TOOLDEX_ALLOWED_HOSTS)],
  trustedProxies: readTrustedProxies(env.TOOLDEX_TRUSTED_PROXIES),
})

/** Listens on the port asked for, or the next free one. */
export async function listen(app: ReturnType<typeof createRestApp>, options: ListenOptions) {
  const { host, port: wanted, say, keepAliveMs = timeouts.keepAliveTimeout } = options
  const limits = { ...timeouts, keepAliveTimeout: keepAliveMs }
  const last = Math.min(wanted + portsToTry, lastPort)
  for (let port = wanted; port <= last; port++) {
    const server = createServer(limits, getRequestListener(app.fetch, { errorHandler: refuseUnread }))
    server.on('clientError', answerClientError)
    if (await tryListen(server, port, host)) continue
    const { port: used } = server.address() as AddressInfo
    if (used !== wanted && wanted !== 0) say(`port ${wanted} is taken; listening on ${used} instead`)
    return { server, url: `http://${host.includes(':') ? `[${host}]` : host}:${used}` }
  }
  throw new TooldexError('USAGE', `No port from ${wanted} to ${last} is free.`, { hint: 'Choose one with --port.' })
}

/** Whether the port is taken. */
function tryListen(server: Server, port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(true) : reject(cannotListen(host, port, error)),
    )
    server.listen(port, host, () => resolve(false))
  })
}

const cannotListen = (host: string, port: number, cause: NodeJS.ErrnoException): TooldexError =>
  new TooldexError('USAGE', `Cannot listen on ${host}, port ${port} (${cause.code ?? cause.message}).`, {
    hint: 'Choose another address with --host, or another port with --port.',
    cause,
  })

/** A request whose address or host cannot be read never reaches the routes. */
function refuseUnread(error: unknown): Response {
  if (!(error instanceof RequestError)) return problemResponse(error, '')
  const hint = 'Check its address and its Host.'
  return problemResponse(new TooldexError('BODY_INVALID', 'The request cannot be read.', { hint }), '')
}

/** What is no HTTP, too long in its head or too slow is answered in the same shape, and let go. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  socket.end(plainProblem(error.code))
  // One that does not read the answer either is not waited for.
  socket.setTimeout(1000, () => socket.destroy())
}

/** Requests that run get their answers; new ones are not taken. */
export function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // The runs have ended; a stream that follows a run elsewhere would go on.
    const late = setTimeout(() => server.closeAllConnections(), lastAnswersMs)
    // A connection that has its answer is kept open by its client.
    const idle = setInterval(() => server.closeIdleConnections(), 50)
    server.close(() => {
      clearTimeout(late)
      clearInterval(idle)
      resolve()
    })
    server.closeIdleConnections()
  })
}
