import type { Server } from 'node:http'
import { TooldexError } from '../base/errors.ts'
import { packageVersion } from '../base/package-info.ts'
import type { ServerContext } from '../operations/operation.ts'
import { checkReady } from '../operations/server/check-ready.ts'
import { checkSettings, processEnv, readSetting } from '../rules/settings.ts'
import { openRuns } from '../runs/open-runs.ts'
import { createStores } from '../storage/index.ts'
import type { WorkerFlags } from '../surfaces/cli/index.ts'
import { createRestApp } from '../surfaces/rest/create-app.ts'
import { drainServer, listenForRest, readSiteSettings } from '../surfaces/rest/listen.ts'
import { ProcessMetrics } from '../telemetry/index.ts'
import { composeProcess } from './compose.ts'
import { Launcher } from './launcher/launcher.ts'
import { openMigratedDatabase } from './open-database.ts'
import { logIsolation, openExecutors } from './open-executors.ts'

/** The options of a worker. */
interface WorkOptions extends WorkerFlags {
  readonly print: (line: string) => void
}

/** `tooldex worker`: takes queued calls from the database that servers share, until it is stopped. */
export async function runWorker(options: WorkOptions, stop: AbortSignal): Promise<void> {
  const env = processEnv
  const unknownSettings = checkSettings()
  if (readSetting('DATABASE_URL') === undefined)
    throw new TooldexError('USAGE', 'A worker needs the PostgreSQL database of the servers.', {
      hint: 'Set DATABASE_URL. An embedded database belongs to its server, which runs queued calls itself.',
    })
  const database = await openMigratedDatabase(env, options.print)
  try {
    const stores = createStores(database)
    const allowed = { warm: readSetting('TOOLDEX_PYTHON_WARM'), hide: true, ...options }
    const launcher = new Launcher(allowed, () => composed.catalog.current().policy?.executor)
    const { more, sandbox, check, watchServers, keepSources } = openExecutors(stores, env, allowed, launcher)
    const composed = composeProcess({ scope: 'service', ...options, configs: [] }, more)
    const { runner, logger, tracing } = composed
    for (const warning of unknownSettings) logger.warn(warning)
    void logIsolation(sandbox, logger)
    watchServers(logger, stop)
    keepSources(logger)
    const { labels } = options
    const metrics = new ProcessMetrics({ slots: [runner.slots, runner.remoteSlots], version: packageVersion() })
    const watched = { observer: metrics, tracing }
    const parts = { runner, store: stores.executions, logger, labels, ...watched }
    const runs = await openRuns({ ...parts, kind: 'worker', takesWork: true, runsTools: true })
    launcher.start()
    const ready = () => checkReady(database, stores, runs)
    const server = await serveMetrics({ ...composed, registry: { stores, check }, metrics }, ready, options)
    const labelText = labels.length === 0 ? '' : `, including those with the labels ${labels.join(', ')}`
    options.print(
      `tooldex worker runs up to ${options.concurrency ?? 8} concurrent calls from ${database.name}${labelText}`,
    )
    await new Promise<void>((resolve) =>
      stop.aborted ? resolve() : stop.addEventListener('abort', () => resolve(), { once: true }),
    )
    await runs.close(options.drainMs, options.print)
    if (server !== undefined) await drainServer(server)
    await runner.close(2000)
    await launcher.close()
  } finally {
    await database.close().catch(() => {})
  }
}

/** Serves the health and metrics endpoints if a port is set. */
async function serveMetrics(
  context: ServerContext,
  ready: () => Promise<readonly string[]>,
  { host, port, print }: WorkOptions,
): Promise<Server | undefined> {
  if (port === undefined) return undefined
  const app = createRestApp({
    context,
    ready,
    catalogOf: async () => context.catalog,
    memoryOf: () => context.memory,
    watchOnly: true,
    ...readSiteSettings(processEnv, host),
  })
  const { server, url } = await listenForRest(app, { host, port, print })
  print(`metrics at ${url}/metrics`)
  return server
}
