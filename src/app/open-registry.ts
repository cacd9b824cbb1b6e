import type { RegistryClient } from '../operations/registry-client/registry-client.ts'
import { openRemote } from '../operations/registry-client/remote-client.ts'
import { findServer } from './find-server.ts'

/** Opens the registry: at the server named, at the one that runs here, or in the database itself. */
export async function connectRegistry(server: string | undefined, signal: AbortSignal): Promise<RegistryClient> {
  const remote = findServer(server)
  // Whoever names a database means it, and not a server that may have another one open.
  const own = remote === undefined || (!remote.named && Boolean(process.env.DATABASE_URL))
  // Loading a database takes longer than asking a server that has it open.
  if (own) return (await import('./open-own-registry.ts')).openOwnRegistry(signal)
  return openRemote(remote, signal)
}
