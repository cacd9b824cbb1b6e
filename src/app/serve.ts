import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { TooldexError, toTooldexError } from '../base/errors.ts'
import { ensurePrivateFolder, inHome } from '../base/file-system.ts'
import type { Logger } from '../base/logger.ts'
import { packageVersion } from '../base/package-info.ts'
import type { Stores } from '../contract/stores.ts'
import type { Sandbox } from '../executors/index.ts'
import { WorkspaceCatalogs } from '../operations/catalog/workspace-catalogs.ts'
import { SearchMemories } from '../operations/learning/search-memories.ts'
import type { ServerContext } from '../operations/operation.ts'
import { hashKey, makeKey } from '../operations/registry/keys.ts'
import { checkSettings, processEnv, readSetting } from '../rules/settings.ts'
import { openRuns } from '../runs/open-runs.ts'
import { tooldexHome, userConfigsDir } from '../sources/cli/index.ts'
import { createStores, type Database } from '../storage/index.ts'
import type { ServeFlags } from '../surfaces/cli/index.ts'
import { McpEndpoint } from '../surfaces/mcp/index.ts'
import { createRestApp, KeyWatch } from '../surfaces/rest/index.ts'
import { ProcessMetrics } from '../telemetry/index.ts'
import { checkReady } from './check-ready.ts'
import { compose } from './compose.ts'
import { Launcher } from './launcher/launcher.ts'
import { drain, listen, readSiteSettings } from './listen.ts'
import { openMigratedDatabase } from './open-database.ts'
import { logIsolation, openExecutors } from './open-executors.ts'
import { registerExamples } from './register-examples.ts'
import { ensureSecretKey } from './secret-key.ts'
import { indexTools, preload } from './warm-up.ts'

/** The options of a server. */
export interface ServeOptions extends ServeFlags {
  readonly print: (line: string) => void
}

const minKeyLength = 16

/** `tooldex serve`: opens the database and serves the tools until it is stopped. */
export async function serve(options: ServeOptions, stop: AbortSignal): Promise<void> {
  const env = processEnv
  const unknownSettings = checkSettings()
  const sites = readSiteSettings(env, options.host)
  const home = tooldexHome(env)
  // A part that cannot be loaded is loaded by the first call that needs it, which reports the reason.
  const preloading = preload().catch(() => {})
  const database = await openMigratedDatabase(env, options.print, { inThread: true })
  const ending = new AbortController()
  try {
    const stores = createStores(database)
    const allowed = { warm: readSetting('TOOLDEX_PYTHON_WARM'), hide: true, ...options }
    const launcher = new Launcher(allowed, () => composed.catalog.current().policy?.executor)
    const { more, box, sandbox, check, watchServers } = openExecutors(stores, env, allowed, launcher)
    const composed = compose({ scope: 'service', ...options }, more)
    const { runner, tracing, catalog: first, logger, loadEmbedder } = composed
    for (const warning of unknownSettings) logger.warn(warning)
    void logIsolation(sandbox, logger)
    const metrics = new ProcessMetrics({ slots: runner.slots, version: packageVersion() })
    const { labels, worker: isWorker } = options
    const watched = { observer: metrics, tracing }
    const parts = { runner, store: stores.executions, logger, labels, ...watched }
    const runs = await openRuns({ ...parts, kind: 'server', takesWork: isWorker, runsTools: isWorker })
    if (!isWorker && database.engine === 'pglite')
      options.print(
        'No calls can run: workers cannot open an embedded database. Omit --no-worker, or set DATABASE_URL.',
      )
    const memories = new SearchMemories({
      store: readSetting('TOOLDEX_LEARNING') ? stores.learning : undefined,
      loadEmbedder,
    })
    const memory = memories.of(composed.caller.workspace)
    const registry = { stores, box, check }
    const context = { ...composed, memory, database, registry, runs, metrics }
    const catalogs = new WorkspaceCatalogs({
      stores,
      logger,
      first,
      loadEmbedder,
      signal: ending.signal,
      grantsOf: more.grantsOf,
    })
    if (options.homeConfigs) createConfigFolder(userConfigsDir(env))
    first.watch(ending.signal)
    watchServers(logger, ending.signal)
    if (options.examples) await registerExamples(context)
    await catalogs.of(context.caller.workspace)
    await requireKeyForRemoteHost(options.host, stores)
    const secret = await firstKey(stores)
    const keyFile = await ensureSecretKey(env, stores, logger)
    const keyWatch = new KeyWatch(stores.keys)
    await keyWatch.open()
    loadEmbedder()
    await preloading
    const endpoint = new McpEndpoint({ version: packageVersion(), logger })
    const app = createRestApp({
      context,
      mcp: (request, of, readBody) => endpoint.respond({ request, context: of, readBody }),
      keyWatch,
      ready: () => checkReady(database, stores, runs),
      catalogOf: (workspace) => catalogs.of(workspace),
      memoryOf: (workspace) => memories.of(workspace),
      ...sites,
    })
    const { server, url } = await listen(app, options)
    const file = writeServerFile(home, url, logger)
    if (isWorker) launcher.start()
    await greet(options, { url, secret, keyFile, context, database, folders: sandbox.folders })
    void indexTools(context, ending.signal)
    await stopped(stop)
    removeServerFile(file)
    // The server listens while it drains: probes see that it is not ready, and runs can be read and cancelled.
    await runs.close(options.drainMs, options.print)
    await endpoint.close()
    await drain(server)
    await keyWatch.close()
    await context.runner.close(2000)
    await launcher.close()
    await memories.settled()
  } finally {
    ending.abort()
    await database.close().catch(() => {})
  }
}

/** Creates the folder of configs, so that it can be watched; ignored if TOOLDEX_HOME is not writable. */
function createConfigFolder(folder: string): void {
  try {
    ensurePrivateFolder(folder)
  } catch {
    // With PostgreSQL nothing else needs a writable TOOLDEX_HOME.
  }
}

/** Without an admin key only local clients may connect. */
async function requireKeyForRemoteHost(host: string, stores: Stores): Promise<void> {
  if (host === '127.0.0.1' || host === 'localhost' || host === '::1') return
  if ((readSetting('TOOLDEX_API_KEY') ?? '').length >= minKeyLength || (await stores.keys.count()) > 0) return
  throw new TooldexError(
    'USAGE',
    `Listening on ${host} accepts remote clients, which needs an admin key of at least ${minKeyLength} characters.`,
    {
      hint: 'Set TOOLDEX_API_KEY to a long random secret first, or listen on 127.0.0.1.',
    },
  )
}

/** Creates the admin key at the first start, from TOOLDEX_API_KEY if it is set. */
async function firstKey(stores: Stores): Promise<string | undefined> {
  if ((await stores.keys.count()) > 0) return undefined
  const apiKey = readSetting('TOOLDEX_API_KEY')
  rejectShortKey(apiKey)
  const { secret, prefix: start, hash } = makeKey(apiKey)
  // Of a short secret, a prefix of the usual length would be most of it.
  const prefix = start.slice(0, Math.floor(secret.length / 4))
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

/** Rejects an admin key that is easy to guess. */
function rejectShortKey(apiKey: string | undefined): void {
  if (!apiKey || apiKey.length >= minKeyLength) return
  throw new TooldexError(
    'USAGE',
    `TOOLDEX_API_KEY is too short for the admin key: it has fewer than ${minKeyLength} characters.`,
    {
      hint: 'Set it to a long random secret, or unset it to generate a key.',
    },
  )
}

/** Removes server.json, unless another server has replaced it. */
function removeServerFile(file: string): void {
  try {
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid?: unknown }
    if (pid === process.pid) rmSync(file, { force: true })
  } catch {
    // The file is already gone.
  }
}

/** Writes server.json, so that commands find this server; without it they need its URL. */
function writeServerFile(home: string, url: string, logger: Logger): string {
  const file = join(home, 'server.json')
  const text = `${JSON.stringify({ url, pid: process.pid, startedAt: new Date().toISOString() })}\n`
  try {
    inHome(file, () => {
      ensurePrivateFolder(home)
      writeFileSync(file, text, { mode: 0o600 })
    })
  } catch (thrown) {
    logger.warn(`Commands on this machine need the URL of this server: TOOLDEX_URL=${url}`, {
      reason: toTooldexError(thrown).message,
    })
  }
  return file
}

interface Greeting {
  /** The folders of the host that tools may use. */
  readonly folders: Sandbox['folders']
  readonly url: string
  readonly secret: string | undefined
  /** The file of the encryption key, if this start created it. */
  readonly keyFile: string | undefined
  readonly context: ServerContext
  readonly database: Database
}

/** Prints the served tools, the key, the URL of the API page, the next commands and how to stop. */
async function greet(options: ServeOptions, greeting: Greeting): Promise<void> {
  const { url, secret, keyFile, context, database } = greeting
  const { print } = options
  const tools = await context.catalog.open()
  const configTools = context.catalog.current().index.size
  print(
    `tooldex serves ${configTools} config tools and ${tools.size - configTools} registered tools at ${url} (database: ${database.engine})`,
  )
  const apiKey = readSetting('TOOLDEX_API_KEY')
  const isNew = secret !== undefined && apiKey === undefined
  const isSet = !isNew && (await isKey(context, apiKey))
  if (isNew) print(`admin key (shown only once): ${secret}`)
  else if (isSet) print('key: the value of TOOLDEX_API_KEY')
  else
    print(
      'key: the admin key printed at the first start; for a new one, stop the server and run: tooldex keys create NAME --scope admin',
    )
  // Browsers do not send the part after #, so the key is in no request and no log.
  print(isNew ? `log in at ${url}/docs#key=${encodeURIComponent(secret)}` : `API documentation at ${url}/docs`)
  print(`MCP endpoint at ${url}/mcp`)
  const self = ownCommand()
  // The first example works without a network.
  const first = options.examples ? `call text_statistics --text 'Good morning.'` : 'tools create FILE --activate'
  const login = isSet ? '' : `export TOOLDEX_API_KEY=${isNew ? secret : 'KEY'}; `
  print(`next: ${login}${self} tools list; ${self} ${first}`)
  if (keyFile !== undefined) {
    const shared = database.engine === 'pglite' ? '' : ', and copy it to all servers and workers of this database'
    print(`secrets are encrypted with the new key in ${keyFile}: back it up${shared}`)
  }
  for (const { path, writable } of greeting.folders) print(`tools may ${writable ? 'read and write' : 'read'} ${path}`)
  print('stop with Ctrl+C')
}

/** The command that starts this program from the current folder. */
function ownCommand(): string {
  const started = process.argv[1] ?? ''
  return started.endsWith('.js') ? `node ${relative(process.cwd(), started)}` : 'tooldex'
}

/** Whether a secret is a key of this database. */
async function isKey(context: ServerContext, secret: string | undefined): Promise<boolean> {
  return Boolean(secret) && (await context.registry.stores.keys.find(hashKey(secret as string))) !== undefined
}

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
  )
