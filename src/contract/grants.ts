/** The grants that an operator can give to workspaces, each with the action it permits. */
export const hostGrants = {
  host: 'run processes outside the isolated sandbox',
  folders: 'use folders of the host',
  network: 'use the network of the host from a sandbox',
  env: 'read variables of the server',
  files: 'read secrets from files of the host',
  private: 'send requests to private networks',
  mcp: 'call the MCP servers of the host',
  packages: 'use or install Python packages of the host',
} as const

export type Grant = keyof typeof hostGrants

export const allGrants = Object.keys(hostGrants) as readonly Grant[]

/** The initial workspace; it has every grant unless the operator configures otherwise. */
export const firstWorkspace = 'default'

/** The grants of each workspace on this host. */
export type GrantsOf = (workspace: string) => readonly Grant[]
