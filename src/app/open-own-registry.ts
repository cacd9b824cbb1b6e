import { invoke } from '../operations/invoke.ts'
import { SearchMemories } from '../operations/learning/search-memories.ts'
import type { HttpRoute, OperationContext } from '../operations/operation.ts'
import type { Registry } from '../operations/registry/registry.ts'
import { RegistryFeed } from '../operations/registry/registry-feed.ts'
import type { RecordedRuns } from '../runs/index.ts'
import { tooldexHome } from '../sources/cli/index.ts'
import { createStores, migrate, openDatabase } from '../storage/index.ts'
import type { RegistryClient } from '../surfaces/cli/index.ts'
import { compose, learns, type MoreParts } from './compose.ts'
import { openExecutors } from './open-executors.ts'
import { openRuns } from './open-runs.ts'

/** Opens the registry in the database that the environment names. */
export async function openOwnRegistry(signal: AbortSignal): Promise<RegistryClient> {
  const env = process.env
  const database = await openDatabase({ url: env.DATABASE_URL, home: tooldexHome(env) })
  try {
    await migrate(database)
  } catch (error) {
    await database.close().catch(() => {})
    throw error
  }
  const stores = createStores(database)
  const { more, box, check } = openExecutors(stores, env)
  const registry = { stores, box, check }
  const plain = { ...withMemory(compose({ configs: [] }, more), registry), registry, signal }
  let offering: Promise<OperationContext> | undefined
  let running: Promise<RecordedRuns> | undefined
  const withRuns = async (context: OperationContext, { scope }: { scope: string }): Promise<OperationContext> => {
    if (scope !== 'call') return context
    const { runner, logger } = context
    running ??= openRuns({ runner, logger, store: stores.executions, labels: [], takeWork: false })
    return { ...context, runs: await running }
  }
  return {
    async invoke(operation, input) {
      if (!readsCatalogue(operation)) return invoke(operation, input, await withRuns(plain, operation))
      offering ??= openOffered(registry, more, signal)
      return invoke(operation, input, await withRuns(await offering, operation))
    },
    async close() {
      await (await running)?.close(0)
      await plain.runner.close(2000)
      await database.close()
    },
  }
}

/** Most operations work on the registry alone; these read what agents are offered, from configs and registry alike. */
const readsCatalogue = ({ http }: { http?: HttpRoute }): boolean =>
  ['search', 'llm', 'catalogue', 'executions'].includes(http?.tag ?? '')

async function openOffered(registry: Registry, more: MoreParts, signal: AbortSignal): Promise<OperationContext> {
  const context = { ...withMemory(compose({}, more), registry), registry, signal }
  const { catalogue, logger, caller } = context
  await new RegistryFeed({ stores: registry.stores, catalogue, workspace: caller.workspace, logger }).sync()
  return context
}

/** Where there is a database, experience is kept in it. */
function withMemory(context: ReturnType<typeof compose>, { stores }: Registry): OperationContext {
  const store = learns(process.env) ? stores.learning : undefined
  const memories = new SearchMemories({ store, loadEmbedder: context.loadEmbedder })
  return { ...context, memory: memories.of(context.caller.workspace) }
}
