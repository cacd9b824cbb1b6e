import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ensurePrivateFolder } from '../base/ensure-folder.ts'
import { TooldexError, toTooldexError } from '../base/errors.ts'
import { inHome } from '../base/file-system-error.ts'
import type { Logger } from '../base/logger.ts'
import { checkNumberSettings, readNumberSetting } from '../base/number-settings.ts'
import { packageVersion } from '../base/package-info.ts'
import type { Stores } from '../contract/stores.ts'
import type { Sandbox } from '../executors/index.ts'
import { WorkspaceCatalogs } from '../operations/catalog/workspace-catalogs.ts'
import { SearchMemories } from '../operations/learning/search-memories.ts'
import type { OperationContext } from '../operations/operation.ts'
import { hashKey, makeKey } from '../operations/registry/keys.ts'
import { registryOf } from '../operations/registry/registry.ts'
import { tooldexHome, userConfigsDir } from '../sources/cli/index.ts'
import { createStores, type Database } from '../storage/index.ts'
import type { ServeFlags } from '../surfaces/cli/index.ts'
import { createRestApp, KeyWatch } from '../surfaces/rest/index.ts'
import { ProcessMetrics } from '../telemetry/index.ts'
import { checkReady } from './check-ready.ts'
import { compose, learns } from './compose.ts'
import { Launcher } from './launcher/launcher.ts'
import { drain, listen, readSiteSettings } from './listen.ts'
import { openMigratedDatabase } from './open-database.ts'
import { logIsolation, openExecutors, warmSandboxes } from './open-executors.ts'
import { openRuns } from './open-runs.ts'
import { registerExamples } from './register-examples.ts'
import { ensureSecretKey } from './secret-key.ts'
import { warmUp } from './warm-up.ts'

/** What `tooldex serve` is asked for. */
export interface ServeOptions extends ServeFlags {
  readonly say: (line: string) => void
}

const minKeyLength = 16

/** `tooldex serve`: opens the database, offers the tools, answers until it is stopped. */
export async function serve(options: ServeOptions, stop: AbortSignal): Promise<void> {
  const env = process.env
  checkNumberSettings(env)
  const sites = readSiteSettings(env, options.host)
  const home = tooldexHome(env)
  const database = await openMigratedDatabase(env, options.say, { inThread: true })
  const ending = new AbortController()
  try {
    const stores = createStores(database)
    const allowed = { warm: warmSandboxes(env), hide: true, ...options }
    const hand = new Launcher(allowed, () => composed.catalog.current().policy?.executor)
    const { more, box, sandbox, check, watchServers } = openExecutors(stores, env, allowed, hand)
    const composed = compose({ scope: 'service', ...options }, more)
    const { runner, tracing, catalog: first, logger, loadEmbedder } = composed
    void logIsolation(sandbox, logger)
    const metrics = new ProcessMetrics({ slots: runner.slots, version: packageVersion() })
    const { labels, worker: isWorker } = options
    const watched = { observer: metrics, tracing }
    const parts = { runner, store: stores.executions, logger, labels, ...watched }
    const runs = await openRuns({ ...parts, kind: 'server', takesWork: isWorker, runsTools: isWorker })
    if (!isWorker && database.engine === 'pglite')
      options.say('no call can run: a worker cannot open an embedded database. Omit --no-worker, or set DATABASE_URL.')
    const memories = new SearchMemories({ store: learns(env) ? stores.learning : undefined, loadEmbedder })
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
    if (options.homeConfigs) offerFolder(userConfigsDir(env))
    first.watch(ending.signal)
    watchServers(logger, ending.signal)
    if (options.examples) await registerExamples(context)
    await catalogs.of(context.caller.workspace)
    await requireKeyForRemoteHost(options.host, stores)
    const secret = await firstKey(stores, env)
    const keyFile = await ensureSecretKey(env, stores, logger)
    const keyWatch = new KeyWatch(stores.keys)
    await keyWatch.open()
    const app = createRestApp({
      context,
      keyWatch,
      ready: () => checkReady(database, stores, runs),
      catalogOf: (workspace) => catalogs.of(workspace),
      memoryOf: (workspace) => memories.of(workspace),
      ...sites,
    })
    const { server, url } = await listen(app, {
      ...options,
      keepAliveMs: readNumberSetting(env, 'TOOLDEX_KEEP_ALIVE_MS'),
    })
    const file = tell(home, url, logger)
    if (isWorker) hand.start()
    await greet(options, { url, secret, keyFile, context, database, folders: sandbox.folders })
    void warmUp(context, ending.signal)
    await stopped(stop)
    untell(file)
    // It listens while it drains: probes read that it is not ready, and runs can still be read and cancelled.
    await runs.close(options.drainMs, options.say)
    await drain(server)
    await keyWatch.close()
    await context.runner.close(2000)
    await hand.close()
    await memories.settled()
  } finally {
    ending.abort()
    await database.close().catch(() => {})
  }
}

/** Makes the folder whose configs are served, so that it can be watched; a home that cannot be written to has none. */
function offerFolder(folder: string): void {
  try {
    ensurePrivateFolder(folder)
  } catch {
    // With a PostgreSQL database nothing else needs the home to be writable.
  }
}

/** Only this machine may connect until there is a way to let others in safely. */
async function requireKeyForRemoteHost(host: string, stores: Stores): Promise<void> {
  if (host === '127.0.0.1' || host === 'localhost' || host === '::1') return
  if ((process.env.TOOLDEX_API_KEY ?? '').length >= minKeyLength || (await stores.keys.count()) > 0) return
  throw new TooldexError(
    'USAGE',
    `Listening on ${host} lets others in, and no admin key of ${minKeyLength} letters or more was chosen for it.`,
    {
      hint: 'Set TOOLDEX_API_KEY to a long random secret first, or listen on 127.0.0.1.',
    },
  )
}

/** The first start makes a key that may do everything, the one in the environment if there is one. */
async function firstKey(stores: Stores, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if ((await stores.keys.count()) > 0) return undefined
  refuseShort(env.TOOLDEX_API_KEY)
  const { secret, prefix: start, hash } = makeKey(env.TOOLDEX_API_KEY || undefined)
  // Of a short secret that someone chose, the first letters would be most of it.
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

/** A key that is soon guessed would be the key to everything, whoever is let in later. */
function refuseShort(chosen: string | undefined): void {
  if (!chosen || chosen.length >= minKeyLength) return
  throw new TooldexError(
    'USAGE',
    `TOOLDEX_API_KEY would be the admin key, and has fewer than ${minKeyLength} letters.`,
    {
      hint: 'Set it to a long random secret, or leave it out and take the one that is made.',
    },
  )
}

/** Another server may have said where it is since. */
function untell(file: string): void {
  try {
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid?: unknown }
    if (pid === process.pid) rmSync(file, { force: true })
  } catch {
    // Someone took it away.
  }
}

/** Writes where this server is, so that commands find it; in a home that cannot be written they need its URL. */
function tell(home: string, url: string, logger: Logger): string {
  const file = join(home, 'server.json')
  const text = `${JSON.stringify({ url, pid: process.pid, startedAt: new Date().toISOString() })}\n`
  try {
    inHome(file, () => {
      ensurePrivateFolder(home)
      writeFileSync(file, text, { mode: 0o600 })
    })
  } catch (thrown) {
    logger.warn(`commands on this machine must name this server: TOOLDEX_URL=${url}`, {
      reason: toTooldexError(thrown).message,
    })
  }
  return file
}

interface Greeting {
  /** The folders of the machine that tools may use. */
  readonly folders: Sandbox['folders']
  readonly url: string
  readonly secret: string | undefined
  /** The key for stored secrets, where this start made it. */
  readonly keyFile: string | undefined
  readonly context: OperationContext
  readonly database: Database
}

/** Five lines: what is served, the key, the page to log in or to read, what to try, how to stop. */
async function greet(options: ServeOptions, greeting: Greeting): Promise<void> {
  const { url, secret, keyFile, context, database } = greeting
  const { say } = options
  const { tools } = await context.catalog.open()
  const ofConfigs = context.catalog.current().index.size
  say(
    `tooldex serves ${ofConfigs} tools of configs and ${tools.size - ofConfigs} of the registry at ${url} (database: ${database.engine})`,
  )
  const shown = secret !== undefined && !process.env.TOOLDEX_API_KEY
  const isSet = !shown && (await isKey(context, process.env.TOOLDEX_API_KEY))
  if (shown) say(`your admin key, shown this once: ${secret}`)
  else if (isSet) say('the key is the one in TOOLDEX_API_KEY')
  else
    say(
      'the admin key is that of the first start; for another, stop this and run: tooldex keys create NAME --scope admin',
    )
  // What is behind # stays in the browser: it is in no request and in no log.
  say(shown ? `log in at ${url}/docs#key=${encodeURIComponent(secret)}` : `read and try the API at ${url}/docs`)
  const self = ownCommand()
  // The first thing to try needs no network.
  const first = options.examples ? `call text_statistics --text 'Good morning.'` : 'tools create FILE --activate'
  const login = isSet ? '' : `export TOOLDEX_API_KEY=${shown ? secret : 'KEY'}; `
  say(`next: ${login}${self} tools list; ${self} ${first}`)
  if (keyFile !== undefined) say(`stored secrets are encrypted with the new key in ${keyFile}: keep a copy of it`)
  for (const { path, writable } of greeting.folders) say(`tools may ${writable ? 'change' : 'read'} ${path}`)
  say('stop with Ctrl+C')
}

/** How a person in this folder starts this very program again. */
function ownCommand(): string {
  const started = process.argv[1] ?? ''
  return started.endsWith('.js') ? `node ${relative(process.cwd(), started)}` : 'tooldex'
}

/** Whether what the environment has is a key of this database. */
async function isKey(context: OperationContext, secret: string | undefined): Promise<boolean> {
  return Boolean(secret) && (await registryOf(context).stores.keys.find(hashKey(secret as string))) !== undefined
}

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
  )
