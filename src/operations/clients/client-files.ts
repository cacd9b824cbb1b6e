import { join } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'

/** The server entry of a client. */
export interface ServerEntry {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** The visibility of a server entry: to one user in every folder, or to everyone who opens a project. */
export const clientScopes = ['user', 'project'] as const
export type ClientScope = (typeof clientScopes)[number]

/** The config file of an MCP client, and its format. */
export interface Client {
  readonly title: string
  /** The steps that make the client read its file. */
  readonly next: string
  /** The file of each supported scope; the first is the default. */
  readonly files: Partial<Readonly<Record<ClientScope, (environment: ClientEnvironment) => string>>>
  /** The reference to an environment variable in its file, if supported. */
  readonly variable?: (name: string) => string
  set(text: string, name: string, entry: ServerEntry, file: string): Promise<string>
  remove(text: string, name: string, file: string): Promise<string>
}

/** The folders of this machine. */
export interface ClientEnvironment {
  readonly home: string
  readonly cwd: string
  readonly platform: NodeJS.Platform
  readonly env: Environment
}

const json = (key: string, extra: Record<string, unknown> = {}): Pick<Client, 'set' | 'remove'> => ({
  async set(text, name, entry, file) {
    const { setInJson } = await import('../../documents/edit-json-text.ts')
    return setInJson(text, [key, name], { ...extra, ...entry }, file)
  },
  async remove(text, name, file) {
    const { removeFromJson } = await import('../../documents/edit-json-text.ts')
    return removeFromJson(text, [key, name], file)
  },
})

const toml = (key: string): Pick<Client, 'set' | 'remove'> => ({
  async set(text, name, { command, args, env }, file) {
    const { setTomlTable } = await import('./edit-toml-text.ts')
    const table = { command, args: [...args], ...(env === undefined ? {} : { env: { ...env } }) }
    return setTomlTable(text, [key, name], table, file)
  },
  async remove(text, name, file) {
    const { removeTomlTable } = await import('./edit-toml-text.ts')
    return removeTomlTable(text, [key, name], file)
  },
})

/** The clients that `tooldex install` supports. */
export const clients = {
  'claude-code': {
    title: 'Claude Code',
    next: 'Start claude and approve the server, or check it with: claude mcp list',
    files: {
      project: ({ cwd }) => join(cwd, '.mcp.json'),
      user: ({ home }) => join(home, '.claude.json'),
    },
    variable: (name) => `\${${name}:-}`,
    ...json('mcpServers', { type: 'stdio' }),
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    next: 'Quit and reopen Claude Desktop.',
    files: { user: (environment) => join(appData(environment), 'Claude', 'claude_desktop_config.json') },
    ...json('mcpServers'),
  },
  cursor: {
    title: 'Cursor',
    next: 'Open Cursor Settings, MCP: the server is listed there.',
    files: {
      user: ({ home }) => join(home, '.cursor', 'mcp.json'),
      project: ({ cwd }) => join(cwd, '.cursor', 'mcp.json'),
    },
    variable: (name) => `\${env:${name}}`,
    ...json('mcpServers'),
  },
  vscode: {
    title: 'VS Code',
    next: 'Open the file and press Start above the server.',
    files: {
      project: ({ cwd }) => join(cwd, '.vscode', 'mcp.json'),
      user: (environment) => join(appData(environment), 'Code', 'User', 'mcp.json'),
    },
    variable: (name) => `\${env:${name}}`,
    ...json('servers', { type: 'stdio' }),
  },
  codex: {
    title: 'Codex',
    next: 'Start codex; /mcp lists the server.',
    files: { user: ({ home, env }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml') },
    ...toml('mcp_servers'),
  },
  gemini: {
    title: 'Gemini CLI',
    next: 'Check it with: gemini mcp list',
    files: {
      user: ({ home }) => join(home, '.gemini', 'settings.json'),
      project: ({ cwd }) => join(cwd, '.gemini', 'settings.json'),
    },
    variable: (name) => `$${name}`,
    ...json('mcpServers'),
  },
} as const satisfies Record<string, Client>

export type ClientName = keyof typeof clients
export const clientNames = Object.keys(clients) as [ClientName, ...ClientName[]]

/** The requested scope, or the default of the client. */
export function scopeOf(name: ClientName, wanted?: ClientScope): ClientScope {
  const client: Client = clients[name]
  const scopes = Object.keys(client.files) as ClientScope[]
  if (wanted === undefined || scopes.includes(wanted)) return wanted ?? (scopes[0] as ClientScope)
  throw new TooldexError('USAGE', `${client.title} has no ${wanted} scope.`, {
    hint: `Use --scope ${scopes.join(' or --scope ')}.`,
  })
}

/** The file of a client in a scope. */
export function clientFile(name: ClientName, scope: ClientScope, environment: ClientEnvironment): string {
  const client: Client = clients[name]
  return (client.files[scope] as (environment: ClientEnvironment) => string)(environment)
}

function appData({ home, platform, env }: ClientEnvironment): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming')
  return env.XDG_CONFIG_HOME || join(home, '.config')
}
