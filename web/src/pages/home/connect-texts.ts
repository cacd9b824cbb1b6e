/** How one client connects to the MCP endpoint of this server. */
export interface Connection {
  readonly id: string
  readonly title: string
  /** The command that writes the entry. */
  readonly command: string
  /** The file of the client, and the entry to paste. */
  readonly file: string
  readonly entry: string
}

const json = (value: unknown): string => JSON.stringify(value, null, 2)

/** The connections of all known clients, with a key. */
export function connectionsTo(origin: string, key: string): readonly Connection[] {
  const url = `${origin}/mcp`
  const headers = { Authorization: `Bearer ${key}` }
  const install = (client: string) => `tooldex install ${client} --http --server ${origin}`
  const withKey = (client: string) => `export TOOLDEX_API_KEY=${key}\n${install(client)}`
  const started = (client: string) => `export TOOLDEX_API_KEY=${key}\ntooldex install ${client} --server ${origin}`
  return [
    {
      id: 'claude-code',
      title: 'Claude Code',
      command: withKey('claude-code'),
      file: '.mcp.json',
      entry: json({ mcpServers: { tooldex: { type: 'http', url, headers } } }),
    },
    {
      id: 'cursor',
      title: 'Cursor',
      command: withKey('cursor'),
      file: '.cursor/mcp.json',
      entry: json({ mcpServers: { tooldex: { url, headers } } }),
    },
    {
      id: 'vscode',
      title: 'VS Code',
      command: withKey('vscode'),
      file: '.vscode/mcp.json',
      entry: json({ servers: { tooldex: { type: 'http', url, headers } } }),
    },
    {
      id: 'codex',
      title: 'Codex',
      command: withKey('codex'),
      file: '~/.codex/config.toml',
      entry: `[mcp_servers.tooldex]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = "TOOLDEX_API_KEY"\n`,
    },
    {
      id: 'gemini',
      title: 'Gemini CLI',
      command: withKey('gemini'),
      file: '.gemini/settings.json',
      entry: json({ mcpServers: { tooldex: { httpUrl: url, headers } } }),
    },
    {
      id: 'windsurf',
      title: 'Windsurf',
      command: withKey('windsurf'),
      file: '~/.codeium/windsurf/mcp_config.json',
      entry: json({ mcpServers: { tooldex: { serverUrl: url, headers } } }),
    },
    {
      id: 'zed',
      title: 'Zed',
      command: started('zed'),
      file: '~/.config/zed/settings.json',
      entry: json({ context_servers: { tooldex: { url, headers } } }),
    },
    {
      id: 'claude-desktop',
      title: 'Claude Desktop',
      command: started('claude-desktop'),
      file: 'claude_desktop_config.json',
      entry: json({
        mcpServers: {
          tooldex: { command: 'tooldex', args: ['run', '--server', origin], env: { TOOLDEX_API_KEY: key } },
        },
      }),
    },
  ]
}
