import { TooldexError } from '../base/errors.ts'
import { tooldexHome } from '../sources/cli/index.ts'
import { createStores, migrate, openDatabase } from '../storage/index.ts'
import type { WorkerFlags } from '../surfaces/cli/index.ts'
import { compose } from './compose.ts'
import { drainMs } from './listen.ts'
import { openExecutors, tellIsolation, warmPlaces } from './open-executors.ts'
import { openRuns } from './open-runs.ts'

/** What `tooldex worker` is asked for. */
interface WorkOptions extends WorkerFlags {
  readonly say: (line: string) => void
}

/** `tooldex worker`: takes queued calls from the database that servers share, until it is stopped. */
export async function work(options: WorkOptions, stop: AbortSignal): Promise<void> {
  const env = process.env
  if (!env.DATABASE_URL)
    throw new TooldexError('USAGE', 'A worker needs the PostgreSQL database that the servers use.', {
      hint: 'Set DATABASE_URL. An embedded database belongs to its server, which runs queued calls itself.',
    })
  const database = await openDatabase({ url: env.DATABASE_URL, home: tooldexHome(env) })
  try {
    await migrate(database, (step) => options.say(`database: ${step}`))
    const stores = createStores(database)
    const { more, sandbox } = openExecutors(stores, env, { warm: warmPlaces(env), ...options })
    const { runner, logger } = compose({ configs: [], scope: 'service', ...options }, more)
    void tellIsolation(sandbox, logger)
    const { labels } = options
    const runs = await openRuns({ runner, store: stores.executions, logger, labels, takeWork: true })
    const also = labels.length === 0 ? '' : `, also those for ${labels.join(', ')}`
    options.say(`tooldex worker takes up to ${options.concurrency ?? 8} calls at once from ${database.name}${also}`)
    await new Promise<void>((resolve) =>
      stop.aborted ? resolve() : stop.addEventListener('abort', () => resolve(), { once: true }),
    )
    await runs.close(drainMs)
    await runner.close(2000)
  } finally {
    await database.close().catch(() => {})
  }
}
