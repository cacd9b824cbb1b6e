import type { Server } from 'node:http'
import { TooldexError } from '../base/errors.ts'
import { checkNumberSettings } from '../base/number-settings.ts'
import { packageVersion } from '../base/package-info.ts'
import type { OperationContext } from '../operations/operation.ts'
import { createStores } from '../storage/index.ts'
import type { WorkerFlags } from '../surfaces/cli/index.ts'
import { createRestApp } from '../surfaces/rest/index.ts'
import { ProcessMetrics } from '../telemetry/index.ts'
import { checkReady } from './check-ready.ts'
import { compose } from './compose.ts'
import { Launcher } from './launcher/launcher.ts'
import { drain, listen, readSiteSettings } from './listen.ts'
import { openMigratedDatabase } from './open-database.ts'
import { logIsolation, openExecutors, warmSandboxes } from './open-executors.ts'
import { openRuns } from './open-runs.ts'

/** What `tooldex worker` is asked for. */
interface WorkOptions extends WorkerFlags {
  readonly say: (line: string) => void
}

/** `tooldex worker`: takes queued calls from the database that servers share, until it is stopped. */
export async function work(options: WorkOptions, stop: AbortSignal): Promise<void> {
  const env = process.env
  checkNumberSettings(env)
  if (!env.DATABASE_URL)
    throw new TooldexError('USAGE', 'A worker needs the PostgreSQL database that the servers use.', {
      hint: 'Set DATABASE_URL. An embedded database belongs to its server, which runs queued calls itself.',
    })
  const database = await openMigratedDatabase(env, options.say)
  try {
    const stores = createStores(database)
    const allowed = { warm: warmSandboxes(env), hide: true, ...options }
    const hand = new Launcher(allowed, () => composed.catalog.current().policy?.executor)
    const { more, sandbox, check, watchServers } = openExecutors(stores, env, allowed, hand)
    const composed = compose({ scope: 'service', ...options, configs: [] }, more)
    const { runner, logger, tracing } = composed
    void logIsolation(sandbox, logger)
    watchServers(logger, stop)
    const { labels } = options
    const metrics = new ProcessMetrics({ slots: runner.slots, version: packageVersion() })
    const watched = { observer: metrics, tracing }
    const parts = { runner, store: stores.executions, logger, labels, ...watched }
    const runs = await openRuns({ ...parts, kind: 'worker', takesWork: true, runsTools: true })
    hand.start()
    const ready = () => checkReady(database, stores, runs)
    const server = await watch({ ...composed, registry: { stores, check }, metrics }, ready, options)
    const also = labels.length === 0 ? '' : `, also those for ${labels.join(', ')}`
    options.say(`tooldex worker takes up to ${options.concurrency ?? 8} calls at once from ${database.name}${also}`)
    await new Promise<void>((resolve) =>
      stop.aborted ? resolve() : stop.addEventListener('abort', () => resolve(), { once: true }),
    )
    await runs.close(options.drainMs, options.say)
    if (server !== undefined) await drain(server)
    await runner.close(2000)
    await hand.close()
  } finally {
    await database.close().catch(() => {})
  }
}

/** Answers whoever watches the worker, where it was given a port for that. */
async function watch(
  context: OperationContext,
  ready: () => Promise<readonly string[]>,
  { host, port, say }: WorkOptions,
): Promise<Server | undefined> {
  if (port === undefined) return undefined
  const app = createRestApp({
    context,
    ready,
    catalogOf: async () => context.catalog,
    memoryOf: () => context.memory,
    watchOnly: true,
    ...readSiteSettings(process.env, host),
  })
  const { server, url } = await listen(app, { host, port, say })
  say(`metrics at ${url}/metrics`)
  return server
}
