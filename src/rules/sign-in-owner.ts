import type { McpServer } from '../contract/mcp-server.ts'

/** The owner of the sign-in that a caller uses at a server: the caller, or nobody where one is shared. */
export const ownerOf = (server: McpServer, actor: string): string =>
  'url' in server && server.oauth?.mode === 'caller' ? actor : ''
