/** The keys of the servers in the files of clients. */
export const serverKeys = ['mcpServers', 'servers', 'context_servers', 'mcp_servers'] as const
export type ServerKey = (typeof serverKeys)[number]

/** The fields of the URL in an entry; the first that an entry has is in force. */
export const urlFields = ['httpUrl', 'serverUrl', 'url'] as const
export type UrlField = (typeof urlFields)[number]
