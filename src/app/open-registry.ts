import { invokeRemote, type RegistryClient } from '../surfaces/cli/index.ts'
import { findServer } from './find-server.ts'

/** Opens the registry: at the server named, at the one that runs here, or in the database itself. */
export async function openRegistry(server: string | undefined, signal: AbortSignal): Promise<RegistryClient> {
  const { DATABASE_URL, TOOLDEX_API_KEY } = process.env
  const found = findServer()
  // Whoever names a database means it, and not a server that may have another one open.
  const url = server ?? (DATABASE_URL && found?.named !== true ? undefined : found?.url)
  // A server has its database loaded already, which takes longer than asking it.
  if (url === undefined) return (await import('./open-own-registry.ts')).openOwnRegistry(signal)
  const remote = { url, key: TOOLDEX_API_KEY || undefined }
  return { invoke: (operation, input) => invokeRemote(remote, operation, input, signal), close: async () => {} }
}
