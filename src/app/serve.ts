import { setImmediate } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import { ensurePrivateFolder } from '../base/home-files.ts'
import { packageVersion } from '../base/package-info.ts'
import { loadTokenCounter } from '../base/tokens.ts'
import { loadHttpClient } from '../executors/http/http-executor.ts'
import { validateValue } from '../json-schema/offload/json-work.ts'
import { WorkspaceCatalogs } from '../operations/catalog/workspace-catalogs.ts'
import { SearchMemories } from '../operations/learning/search-memory.ts'
import type { ProcessContext } from '../operations/operation.ts'
import {
  createFirstKey,
  isApiKeyStored,
  registerExamples,
  requireKeyForRemoteHost,
} from '../operations/registry/first-start.ts'
import { ensureSecretKey } from '../operations/registry/secret-key.ts'
import { removeServerFile, writeServerFile } from '../operations/registry-client/find-server.ts'
import { checkReady } from '../operations/server/check-ready.ts'
import { checkSettings, processEnv, readSetting } from '../rules/settings.ts'
import { openRuns } from '../runs/open-runs.ts'
import { tooldexHome, userConfigsDir } from '../sources/cli/index.ts'
import { createStores } from '../storage/index.ts'
import type { ServeFlags } from '../surfaces/cli/index.ts'
import { greetingLines } from '../surfaces/cli/server-greeting.ts'
import { McpEndpoint } from '../surfaces/mcp/serve-http.ts'
import { createRestApp } from '../surfaces/rest/create-app.ts'
import { KeyWatch } from '../surfaces/rest/key-watch.ts'
import { drainServer, listenForRest, readSiteSettings } from '../surfaces/rest/listen.ts'
import { ProcessMetrics } from '../telemetry/index.ts'
import { composeProcess } from './compose.ts'
import { Launcher } from './launcher/launcher.ts'
import { openMigratedDatabase } from './open-database.ts'
import { logIsolation, openExecutors } from './open-executors.ts'

/** The options of a server. */
interface ServeOptions extends ServeFlags {
  readonly print: (line: string) => void
  /** Called when everything is loaded that the server needs at rest. */
  readonly onStarted?: () => void
}

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
    const { more, box, sandbox, check, upstreams, sources, watchServers, keepSources } = openExecutors(
      stores,
      env,
      allowed,
      launcher,
    )
    const composed = composeProcess({ scope: 'service', ...options }, more)
    const { runner, tracing, catalog: first, logger, loadEmbedder } = composed
    for (const warning of unknownSettings) logger.warn(warning)
    void logIsolation(sandbox, logger)
    const metrics = new ProcessMetrics({ slots: [runner.slots, runner.remoteSlots], version: packageVersion() })
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
    const context = { ...composed, memory, database, registry, runs, metrics, upstreams, sources }
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
    keepSources(logger)
    if (options.examples) await registerExamples(context)
    await catalogs.of(context.caller.workspace)
    await requireKeyForRemoteHost(options.host, stores)
    const secret = await createFirstKey(stores)
    const keyFile = await ensureSecretKey(env, stores, logger)
    // The first use reports what is wrong with the key.
    box?.prepare().catch(() => {})
    const keyWatch = new KeyWatch(stores.keys)
    await keyWatch.open()
    loadEmbedder()
    await preloading
    const origin = sites.oauth === undefined ? undefined : new URL(sites.oauth.resource).origin
    const endpoint = new McpEndpoint({ version: packageVersion(), logger, origin })
    const app = createRestApp({
      context,
      mcp: (request, of, readBody) => endpoint.respond({ request, context: of, readBody }),
      keyWatch,
      ready: () => checkReady(database, stores, runs),
      catalogOf: (workspace) => catalogs.of(workspace),
      memoryOf: (workspace) => memories.of(workspace),
      ...sites,
    })
    const { server, url } = await listenForRest(app, options)
    const file = writeServerFile(home, url, logger)
    if (isWorker) launcher.start()
    const tools = await first.open()
    const ofConfigs = first.current().index.size
    const greeting = {
      url,
      engine: database.engine,
      tools: { ofConfigs, registered: tools.size - ofConfigs },
      newKey: readSetting('TOOLDEX_API_KEY') === undefined ? secret : undefined,
      isKeySet: await isApiKeyStored(stores),
      keyFile,
      folders: sandbox.folders,
      hasExamples: options.examples === true,
    }
    for (const line of greetingLines(greeting)) options.print(line)
    void indexTools(context, ending.signal).then(() => options.onStarted?.())
    await stopped(stop)
    removeServerFile(file)
    // The server listens while it drains: probes see that it is not ready, and runs can be read and cancelled.
    await runs.close(options.drainMs, options.print)
    await endpoint.close()
    await drainServer(server)
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

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
  )

/**
 * Loads what the first calls need, before the server listens: each part holds the event loop for tens of milliseconds. The database
 * opens meanwhile.
 */
async function preload(): Promise<void> {
  const steps: readonly (() => unknown)[] = [
    loadHttpClient,
    // The first request to a service over TLS would read the root certificates.
    createSecureContext,
    loadTokenCounter,
    () => validateValue({ type: 'object', properties: { a: { type: 'string', pattern: '^a' } } }, { a: 'b' }),
  ]
  for (const step of steps) {
    await setImmediate()
    await step()
  }
}

/** Reads the tools into the search index, in turns with the first requests. */
async function indexTools({ catalog, logger }: ProcessContext, signal: AbortSignal): Promise<void> {
  try {
    const tools = await catalog.indexInTurns('hybrid', signal)
    tools.search({ query: 'warm up', limit: 1 })
  } catch (error) {
    if (!signal.aborted) logger.warn(`The tools could not be indexed: ${String(error)}`)
  }
}
