import { join } from 'node:path'
import type { Environment } from '../base/expand-variables.ts'

/** How a client is told to start a server. */
export interface ServerEntry {
  readonly command: string
  readonly args: readonly string[]
}

/** Where one MCP client keeps its list of servers, and how it is written. */
export interface Client {
  readonly title: string
  /** What to do so that the client notices. */
  readonly next: string
  file(place: Place): string
  edit(text: string, name: string, entry: ServerEntry, file: string): Promise<string>
}

/** Where things are on this machine. */
export interface Place {
  readonly home: string
  readonly cwd: string
  readonly platform: NodeJS.Platform
  readonly env: Environment
}

const json =
  (key: string, extra: Record<string, unknown> = {}): Client['edit'] =>
  async (text, name, { command, args }, file) => {
    const { setInJson } = await import('../base/edit-json-text.ts')
    return setInJson(text, [key, name], { ...extra, command, args }, file)
  }

/** The clients that `tooldex install` knows. */
export const clients = {
  'claude-code': {
    title: 'Claude Code',
    next: 'Start claude in this folder and approve the server, or check it with: claude mcp list',
    file: ({ cwd }) => join(cwd, '.mcp.json'),
    edit: json('mcpServers', { type: 'stdio' }),
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    next: 'Quit and reopen Claude Desktop.',
    file: (place) => join(appData(place), 'Claude', 'claude_desktop_config.json'),
    edit: json('mcpServers'),
  },
  cursor: {
    title: 'Cursor',
    next: 'Open Cursor Settings, MCP: the server is listed there.',
    file: ({ home }) => join(home, '.cursor', 'mcp.json'),
    edit: json('mcpServers'),
  },
  vscode: {
    title: 'VS Code',
    next: 'Open .vscode/mcp.json and press Start above the server.',
    file: ({ cwd }) => join(cwd, '.vscode', 'mcp.json'),
    edit: json('servers', { type: 'stdio' }),
  },
  codex: {
    title: 'Codex',
    next: 'Start codex; /mcp lists the server.',
    file: ({ home, env }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    async edit(text, name, { command, args }, file) {
      const { setTomlTable } = await import('../base/edit-toml-text.ts')
      return setTomlTable(text, ['mcp_servers', name], { command, args: [...args] }, file)
    },
  },
  gemini: {
    title: 'Gemini CLI',
    next: 'Check it with: gemini mcp list',
    file: ({ home }) => join(home, '.gemini', 'settings.json'),
    edit: json('mcpServers'),
  },
} as const satisfies Record<string, Client>

export type ClientName = keyof typeof clients
export const clientNames = Object.keys(clients) as [ClientName, ...ClientName[]]

function appData({ home, platform, env }: Place): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming')
  return env.XDG_CONFIG_HOME || join(home, '.config')
}
