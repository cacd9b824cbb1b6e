import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { TooldexError } from '../base/errors.ts'

// A client that sends its head or its body too slowly is let go.
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 2000,
}
const portsToTry = 20
const drainMs = 5000

/** Where to listen, and who is told of another port. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly say: (line: string) => void
}

/** Listens on the port, or on the next free one. */
export async function listen(options: ListenOptions, fetch: Parameters<typeof createAdaptorServer>[0]['fetch']) {
  const { host, port: wanted, say } = options
  for (let port = wanted; ; port++) {
    const server = createAdaptorServer({ fetch, serverOptions: timeouts }) as Server
    if (await tryListen(server, port, host)) {
      const { port: used } = server.address() as AddressInfo
      if (used !== wanted && wanted !== 0) say(`port ${wanted} is taken; listening on ${used} instead`)
      return { server, url: `http://${host.includes(':') ? `[${host}]` : host}:${used}` }
    }
    if (port >= wanted + portsToTry)
      throw new TooldexError('USAGE', `No port from ${wanted} to ${port} is free.`, {
        hint: 'Choose one with --port.',
      })
  }
}

/** Whether the port was free. */
function tryListen(server: Server, port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    server.listen(port, host, () => resolve(true))
  })
}

/** Requests that run get their answers; new ones are not taken. */
export function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), drainMs)
    server.close(() => {
      clearTimeout(late)
      resolve()
    })
    server.closeIdleConnections()
  })
}
