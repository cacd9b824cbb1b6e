import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { invoke } from '../operations/invoke.ts'
import type { HttpRoute, OperationContext } from '../operations/operation.ts'
import type { Registry } from '../operations/registry/registry.ts'
import { RegistryFeed } from '../operations/registry/registry-feed.ts'
import type { RecordedRuns } from '../runs/index.ts'
import { tooldexHome } from '../sources/cli/index.ts'
import { createStores, migrate, openDatabase } from '../storage/index.ts'
import { invokeRemote, type RegistryClient } from '../surfaces/cli/index.ts'
import { checkRegistered } from './check-registered.ts'
import { compose } from './compose.ts'
import { openRuns } from './open-runs.ts'

/** Opens the registry: at the server named, at the one that runs here, or in the database itself. */
export async function openRegistry(server: string | undefined, signal: AbortSignal): Promise<RegistryClient> {
  const env = process.env
  const url =
    server ?? (env.TOOLDEX_URL || undefined) ?? (env.DATABASE_URL ? undefined : runningServer(tooldexHome(env)))
  if (url !== undefined) {
    const remote = { url, key: env.TOOLDEX_API_KEY || undefined }
    return { invoke: (operation, input) => invokeRemote(remote, operation, input, signal), close: async () => {} }
  }
  const database = await openDatabase({ url: env.DATABASE_URL, home: tooldexHome(env) })
  try {
    await migrate(database)
  } catch (error) {
    await database.close().catch(() => {})
    throw error
  }
  const registry = { stores: createStores(database), check: checkRegistered }
  const plain = { ...compose({ configs: [] }), registry, signal }
  let offering: Promise<OperationContext> | undefined
  let running: Promise<RecordedRuns> | undefined
  const withRuns = async (context: OperationContext, operation: { http?: HttpRoute; scope: string }) => {
    if (operation.scope !== 'call') return context
    const { runner, logger, tracing } = context
    running ??= openRuns({ runner, logger, tracing, store: registry.stores.executions, labels: [], takeWork: false })
    return { ...context, runs: await running }
  }
  return {
    async invoke(operation, input) {
      if (!readsCatalogue(operation)) return invoke(operation, input, await withRuns(plain, operation))
      offering ??= openOffered(registry, signal)
      return invoke(operation, input, await withRuns(await offering, operation))
    },
    async close() {
      await (await running)?.close(0)
      await database.close()
    },
  }
}

/** Most operations work on the registry alone; these read what agents are offered, from configs and registry alike. */
const readsCatalogue = ({ http }: { http?: HttpRoute }): boolean => catalogueTags.has(http?.tag ?? '')

const catalogueTags = new Set(['search', 'llm', 'executions'])

async function openOffered(registry: Registry, signal: AbortSignal): Promise<OperationContext> {
  const context = { ...compose({}), registry, signal }
  const { catalogue, logger, caller } = context
  await new RegistryFeed({ stores: registry.stores, catalogue, workspace: caller.workspace, logger }).sync()
  return context
}

/** The server that has the embedded database open, if it is still there. */
function runningServer(home: string): string | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(join(home, 'server.json'), 'utf8')) as { url: string; pid: number }
    process.kill(pid, 0)
    return url
  } catch {
    return undefined
  }
}
