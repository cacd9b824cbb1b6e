import { join } from 'node:path'
import type { TomlTable } from 'smol-toml'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import type { ServerKey, UrlField } from './read-client-servers.ts'

/** The entry of a server that the client starts. */
interface ProcessEntry {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** The entry of a server that the client connects to over HTTP. */
interface HttpEntry {
  readonly url: string
  /** The environment variable of the key; absent where the client signs in with OAuth. */
  readonly keyVariable?: string | undefined
}

/** The server entry of a client. */
export type ServerEntry = ProcessEntry | HttpEntry

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
  /** Whether its file can name a server over HTTP: with a key in a variable, for OAuth only, or not at all. */
  readonly http: 'key' | 'oauth' | 'none'
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

interface JsonFormat {
  readonly variable?: Client['variable']
  /** The field of the URL of a server over HTTP, if its file can name one. */
  readonly url?: UrlField
  /** Whether entries name their transport. */
  readonly hasType?: boolean
}

type Format = Pick<Client, 'variable' | 'http' | 'set' | 'remove'>

const json = (key: ServerKey, { variable, url, hasType = false }: JsonFormat): Format => ({
  ...(variable === undefined ? {} : { variable }),
  http: url === undefined ? 'none' : variable === undefined ? 'oauth' : 'key',
  async set(text, name, entry, file) {
    const { setInJsonText } = await import('../../documents/edit-json-text.ts')
    const isHttp = 'url' in entry
    const type = hasType ? { type: isHttp ? 'http' : 'stdio' } : {}
    const fields = isHttp ? { [url ?? 'url']: entry.url, ...bearer(entry.keyVariable, variable) } : entry
    return setInJsonText(text, [key, name], { ...type, ...fields }, file)
  },
  async remove(text, name, file) {
    const { removeFromJsonText } = await import('../../documents/edit-json-text.ts')
    return removeFromJsonText(text, [key, name], file)
  },
})

/** The header with the key; a file only ever contains the name of the variable. */
function bearer(keyVariable: string | undefined, variable: Client['variable']): { headers?: Record<string, string> } {
  if (keyVariable === undefined || variable === undefined) return {}
  return { headers: { Authorization: `Bearer ${variable(keyVariable)}` } }
}

const toml = (key: ServerKey): Format => ({
  http: 'key',
  async set(text, name, entry, file) {
    const { setTomlTable } = await import('./edit-toml-text.ts')
    return setTomlTable(text, [key, name], toTomlTable(entry), file)
  },
  async remove(text, name, file) {
    const { removeTomlTable } = await import('./edit-toml-text.ts')
    return removeTomlTable(text, [key, name], file)
  },
})

function toTomlTable(entry: ServerEntry): TomlTable {
  if ('url' in entry) {
    const { url, keyVariable } = entry
    return { url, ...(keyVariable === undefined ? {} : { bearer_token_env_var: keyVariable }) }
  }
  const { command, args, env } = entry
  return { command, args: [...args], ...(env === undefined ? {} : { env: { ...env } }) }
}

/** The clients that `tooldex install` supports. */
export const clients = {
  'claude-code': {
    title: 'Claude Code',
    next: 'Start claude and approve the server, or check it with: claude mcp list',
    files: {
      project: ({ cwd }) => join(cwd, '.mcp.json'),
      user: ({ home }) => join(home, '.claude.json'),
    },
    ...json('mcpServers', {
      variable: (name) => `\${${name}:-}`,
      url: 'url',
      hasType: true,
    }),
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    next: 'Quit and reopen Claude Desktop.',
    files: { user: (environment) => join(appData(environment), 'Claude', 'claude_desktop_config.json') },
    ...json('mcpServers', {}),
  },
  cursor: {
    title: 'Cursor',
    next: 'Open Cursor Settings, MCP: the server is listed there.',
    files: {
      user: ({ home }) => join(home, '.cursor', 'mcp.json'),
      project: ({ cwd }) => join(cwd, '.cursor', 'mcp.json'),
    },
    ...json('mcpServers', {
      variable: (name) => `\${env:${name}}`,
      url: 'url',
    }),
  },
  vscode: {
    title: 'VS Code',
    next: 'Open the file and press Start above the server.',
    files: {
      project: ({ cwd }) => join(cwd, '.vscode', 'mcp.json'),
      user: (environment) => join(appData(environment), 'Code', 'User', 'mcp.json'),
    },
    ...json('servers', {
      variable: (name) => `\${env:${name}}`,
      url: 'url',
      hasType: true,
    }),
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
    ...json('mcpServers', {
      variable: (name) => `$${name}`,
      url: 'httpUrl',
    }),
  },
  windsurf: {
    title: 'Windsurf',
    next: 'Open the MCP servers of Cascade and press Refresh.',
    files: { user: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json') },
    ...json('mcpServers', {
      variable: (name) => `\${env:${name}}`,
      url: 'serverUrl',
    }),
  },
  zed: {
    title: 'Zed',
    next: 'Open the settings of the Agent Panel: the server is listed there.',
    files: { user: (environment) => join(zedFolder(environment), 'settings.json') },
    ...json('context_servers', { url: 'url' }),
  },
} satisfies Record<string, Client>

export type ClientName = keyof typeof clients
export const clientNames = Object.keys(clients) as [ClientName, ...ClientName[]]

/** The requested scope, or the default of the client. */
export function chooseClientScope(name: ClientName, wanted?: ClientScope): ClientScope {
  const client: Client = clients[name]
  const scopes = Object.keys(client.files) as ClientScope[]
  if (wanted === undefined || scopes.includes(wanted)) return wanted ?? (scopes[0] as ClientScope)
  throw new TooldexError('USAGE', `${client.title} has no ${wanted} scope.`, {
    hint: `Use --scope ${scopes.join(' or --scope ')}.`,
  })
}

/** The file of a client in a scope. */
export function clientFilePath(name: ClientName, scope: ClientScope, environment: ClientEnvironment): string {
  const client: Client = clients[name]
  return (client.files[scope] as (environment: ClientEnvironment) => string)(environment)
}

/** On macOS, Zed has its settings where Linux has them. */
function zedFolder(environment: ClientEnvironment): string {
  const { home, platform } = environment
  if (platform === 'darwin') return join(home, '.config', 'zed')
  return join(appData(environment), platform === 'win32' ? 'Zed' : 'zed')
}

function appData({ home, platform, env }: ClientEnvironment): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming')
  return env.XDG_CONFIG_HOME || join(home, '.config')
}
