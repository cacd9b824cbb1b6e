import { invoke } from '../operations/invoke.ts'
import type { HttpRoute, OperationContext } from '../operations/operation.ts'
import type { Registry } from '../operations/registry/registry.ts'
import { RegistryFeed } from '../operations/registry/registry-feed.ts'
import { tooldexHome } from '../sources/cli/index.ts'
import { createStores, migrate, openDatabase } from '../storage/index.ts'
import type { RegistryClient } from '../surfaces/cli/index.ts'
import { checkRegistered } from './check-registered.ts'
import { compose } from './compose.ts'

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
  const registry = { stores: createStores(database), check: checkRegistered }
  const plain = { ...compose({ configs: [] }), registry, signal }
  let offering: Promise<OperationContext> | undefined
  return {
    async invoke(operation, input) {
      if (!readsCatalogue(operation)) return invoke(operation, input, plain)
      offering ??= openOffered(registry, signal)
      return invoke(operation, input, await offering)
    },
    close: () => database.close(),
  }
}

/** Most operations work on the registry alone; these read what agents are offered, from configs and registry alike. */
const readsCatalogue = ({ http }: { http?: HttpRoute }): boolean => http?.tag === 'search' || http?.tag === 'llm'

async function openOffered(registry: Registry, signal: AbortSignal): Promise<OperationContext> {
  const context = { ...compose({}), registry, signal }
  const { catalogue, logger, caller } = context
  await new RegistryFeed({ stores: registry.stores, catalogue, workspace: caller.workspace, logger }).sync()
  return context
}
