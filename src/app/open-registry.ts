import { findServer } from '../operations/registry-client/find-server.ts'
import type { RegistryClient } from '../operations/registry-client/registry-client.ts'
import { openRemoteClient } from '../operations/registry-client/remote-client.ts'
import { readSetting } from '../rules/settings.ts'

/** Opens the registry of the named server, of the local server, or in the database itself. */
export async function connectRegistry(server: string | undefined, signal: AbortSignal): Promise<RegistryClient> {
  const remote = findServer(server)
  // DATABASE_URL takes precedence over a local server, which may have another database open.
  const own = remote === undefined || (!remote.named && readSetting('DATABASE_URL') !== undefined)
  // Loaded on demand: opening a database takes longer than a request to a server. Its owner may run programs.
  if (own) return (await import('./open-own-registry.ts')).openOwnRegistry(signal, { codeMode: true })
  return openRemoteClient(remote, signal)
}
