import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { invoke } from '../operations/invoke.ts'
import { tooldexHome } from '../sources/cli/index.ts'
import { createStores, migrate, openDatabase } from '../storage/index.ts'
import { invokeRemote, type RegistryClient } from '../surfaces/cli/index.ts'
import { checkRegistered } from './check-registered.ts'
import { compose } from './compose.ts'

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
  const context = { ...compose({ configs: [] }), registry, signal }
  return { invoke: (operation, input) => invoke(operation, input, context), close: () => database.close() }
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
