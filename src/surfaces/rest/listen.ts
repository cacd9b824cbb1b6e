import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { TooldexError } from '../../base/errors.ts'
import { readSetting } from '../../rules/settings.ts'
import { readOAuthSettings } from './access-tokens.ts'
import { readHostList, readTrustedProxies } from './check-host.ts'
import type { createRestApp } from './create-app.ts'
import { plainProblem, problemResponse } from './problem-response.ts'

// Connections of clients that send headers or the body too slowly are closed.
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2000,
}
const portsToTry = 20
const lastPort = 65_535
/** The maximum wait for the last responses at shutdown. */
const lastResponsesMs = 3000

/** The address to listen on, and the output for messages. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly print: (line: string) => void
}

/** The allowed host names, including the listening address, and the trusted proxies. */
export const readSiteSettings = (env: NodeJS.ProcessEnv, host: string) => ({
  allowedHosts: [host.toLowerCase(), ...readHostList(readSetting('TOOLDEX_ALLOWED_HOSTS', env))],
  trustedProxies: readTrustedProxies(readSetting('TOOLDEX_TRUSTED_PROXIES', env)),
  oauth: readOAuthSettings(env),
  publicOrigin: readPublicOrigin(env),
})

/** The origin under which browsers reach the server. */
function readPublicOrigin(env: NodeJS.ProcessEnv): string | undefined {
  const text = readSetting('TOOLDEX_PUBLIC_URL', env)
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === ''
  )
    return url.origin
  throw new TooldexError('USAGE', `TOOLDEX_PUBLIC_URL is not the origin of a server: "${text.slice(0, 200)}".`, {
    hint: 'Set it to something like https://tools.example.org, without a path.',
  })
}

/** Listens on the requested port, or the next free one. */
export async function listenForRest(app: ReturnType<typeof createRestApp>, options: ListenOptions) {
  const { host, port: requested, print } = options
  // A proxy that reuses a connection while the server closes it responds with 502, so the server closes last.
  const limits = { ...timeouts, keepAliveTimeout: readSetting('TOOLDEX_KEEP_ALIVE_MS') }
  const last = Math.min(requested + portsToTry, lastPort)
  for (let port = requested; port <= last; port++) {
    const server = createServer(limits, getRequestListener(app.fetch, { errorHandler: rejectUnreadable }))
    server.on('clientError', handleClientError)
    // Port 0 is any free port, so there is no next one.
    if (await tryListen(server, requested === 0 ? 0 : port, host)) continue
    const { port: used } = server.address() as AddressInfo
    if (used !== requested && requested !== 0) print(`port ${requested} is in use; listening on ${used} instead`)
    return { server, url: `http://${host.includes(':') ? `[${host}]` : host}:${used}` }
  }
  throw new TooldexError('USAGE', `No port from ${requested} to ${last} is free.`, {
    hint: 'Choose another with --port.',
  })
}

/** Returns whether the port is in use. */
function tryListen(server: Server, port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(true) : reject(cannotListen(host, port, error)),
    )
    server.listen(port, host, () => resolve(false))
  })
}

const cannotListen = (host: string, port: number, cause: NodeJS.ErrnoException): TooldexError =>
  new TooldexError('USAGE', `Cannot listenForRest on ${host}, port ${port} (${cause.code ?? cause.message}).`, {
    hint: 'Choose another address with --host, or another port with --port.',
    cause,
  })

/** Handles requests with an invalid URL or Host, which never reach the routes. */
function rejectUnreadable(error: unknown): Response {
  if (!(error instanceof RequestError)) return problemResponse(error, '')
  const hint = 'Check its URL and its Host header.'
  return problemResponse(
    new TooldexError('BODY_INVALID', 'The request has an invalid URL or Host header.', { hint }),
    '',
  )
}

/** Responds to invalid HTTP, large headers and slow requests in the common error format, and closes the connection. */
function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  socket.end(plainProblem(error.code))
  // Clients that do not read the response are disconnected.
  socket.setTimeout(1000, () => socket.destroy())
}

/** Finishes running requests and accepts no new ones. */
export function drainServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // The runs have ended, but a stream that follows a run of another process would continue.
    const late = setTimeout(() => server.closeAllConnections(), lastResponsesMs)
    // Clients keep idle connections open.
    const idle = setInterval(() => server.closeIdleConnections(), 50)
    server.close(() => {
      clearTimeout(late)
      clearInterval(idle)
      resolve()
    })
    server.closeIdleConnections()
  })
}
