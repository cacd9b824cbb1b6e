import { type ClientServer, readClientServers } from '../../../../src/operations/clients/read-client-servers.ts'
import type { ReadFile } from './drop-zone.tsx'

export type { ClientServer }

/** The MCP servers in the file of a client; undefined for any other text. Variables are those of the server, so they stay references. */
export function readServers({ name, text }: ReadFile): readonly ClientServer[] | undefined {
  try {
    const servers = readClientServers(text, { file: name, env: {} })
    return servers.length === 0 ? undefined : servers
  } catch {
    return undefined
  }
}
