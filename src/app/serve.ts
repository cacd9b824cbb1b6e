import { rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { ensureFolder } from '../base/ensure-folder.ts'
import { TooldexError } from '../base/errors.ts'
import type { Stores } from '../contract/stores.ts'
import type { OperationContext } from '../operations/operation.ts'
import { Catalogues } from '../operations/registry/catalogues.ts'
import { makeKey } from '../operations/registry/keys.ts'
import { tooldexHome } from '../sources/cli/index.ts'
import { createStores, type Database, migrate, openDatabase } from '../storage/index.ts'
import type { ServeFlags } from '../surfaces/cli/index.ts'
import { createRestApp } from '../surfaces/rest/index.ts'
import { checkRegistered } from './check-registered.ts'
import { compose } from './compose.ts'

/** What `tooldex serve` is asked for. */
export interface ServeOptions extends ServeFlags {
  readonly say: (line: string) => void
}

// A client that sends its head or its body too slowly is let go.
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 2000,
}
const portsToTry = 20
const drainMs = 5000

/** `tooldex serve`: opens the database, offers the tools, answers until it is stopped. */
export async function serve(options: ServeOptions, stop: AbortSignal): Promise<void> {
  refuseStrangers(options.host)
  const env = process.env
  const home = tooldexHome(env)
  const database = await openDatabase({ url: env.DATABASE_URL, home })
  const ending = new AbortController()
  try {
    await migrate(database, (step) => options.say(`database: ${step}`))
    const stores = createStores(database)
    const context = { ...compose(options), registry: { stores, check: checkRegistered } }
    const { catalogue: first, logger } = context
    const catalogues = new Catalogues({
      stores,
      logger,
      first,
      loadEmbedder: context.loadEmbedder,
      signal: ending.signal,
    })
    await catalogues.of(context.caller.workspace)
    const secret = await firstKey(stores, env)
    const { server, url } = await listen(options, context, catalogues)
    const file = tell(home, url)
    greet(options, { url, secret, context, database })
    await stopped(stop)
    rmSync(file, { force: true })
    await drain(server)
    await context.runner.close(2000)
  } finally {
    ending.abort()
    await database.close().catch(() => {})
  }
}

/** Only this machine may connect until there is a way to let others in safely. */
function refuseStrangers(host: string): void {
  if (host === '127.0.0.1' || host === 'localhost' || host === '::1') return
  if (process.env.TOOLDEX_API_KEY) return
  throw new TooldexError('USAGE', `Listening on ${host} lets others in, and no admin key was chosen for it.`, {
    hint: 'Set TOOLDEX_API_KEY to a long random secret first, or listen on 127.0.0.1.',
  })
}

async function listen(options: ServeOptions, context: OperationContext, catalogues: Catalogues) {
  const ready = async () => {
    await context.registry?.stores.ping()
  }
  const app = createRestApp({ context, ready, catalogueOf: (workspace) => catalogues.of(workspace) })
  for (let port = options.port; ; port++) {
    const server = createAdaptorServer({ fetch: app.fetch, serverOptions: timeouts }) as Server
    const taken = await tryListen(server, port, options.host)
    if (!taken) {
      const { port: used } = server.address() as AddressInfo
      if (used !== options.port && options.port !== 0)
        options.say(`port ${options.port} is taken; listening on ${used} instead`)
      return { server, url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${used}` }
    }
    if (port >= options.port + portsToTry)
      throw new TooldexError('USAGE', `No port from ${options.port} to ${port} is free.`, {
        hint: 'Choose one with --port.',
      })
  }
}

/** Whether the port is taken. */
function tryListen(server: Server, port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(true) : reject(error),
    )
    server.listen(port, host, () => resolve(false))
  })
}

/** The first start makes a key that may do everything, the one in the environment if there is one. */
async function firstKey(stores: Stores, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if ((await stores.keys.count()) > 0) return undefined
  const { secret, prefix, hash } = makeKey(env.TOOLDEX_API_KEY || undefined)
  const caller = { workspace: 'default', actor: 'first start' }
  try {
    await stores.keys.create(caller, { name: 'admin', prefix, hash, scopes: ['admin'] })
    return secret
  } catch (error) {
    // Another process was first.
    if (error instanceof TooldexError && error.code === 'NAME_TAKEN') return undefined
    throw error
  }
}

/** Says where this server is, so that commands find it. */
function tell(home: string, url: string): string {
  ensureFolder(home)
  const file = join(home, 'server.json')
  writeFileSync(file, `${JSON.stringify({ url, pid: process.pid, startedAt: new Date().toISOString() })}\n`, {
    mode: 0o600,
  })
  return file
}

interface Greeting {
  readonly url: string
  readonly secret: string | undefined
  readonly context: OperationContext
  readonly database: Database
}

function greet({ say }: ServeOptions, { url, secret, context, database }: Greeting): void {
  const tools = context.catalogue.current().index.size
  say(`tooldex serves ${tools} tools of configs and the registry at ${url} (database: ${database.engine})`)
  if (secret !== undefined && !process.env.TOOLDEX_API_KEY) {
    say(`your admin key, shown this once: ${secret}`)
    say(`open ${url}/docs to read the API; sign in later with ${url}/#key=${secret}`)
  } else say(`open ${url}/docs to read the API`)
  say(`next: export TOOLDEX_API_KEY=${secret === undefined ? 'KEY' : secret}; tooldex tools list`)
  say('stop with Ctrl+C')
}

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
  )

/** Requests that run get their answers; new ones are not taken. */
function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), drainMs)
    server.close(() => {
      clearTimeout(late)
      resolve()
    })
    server.closeIdleConnections()
  })
}
