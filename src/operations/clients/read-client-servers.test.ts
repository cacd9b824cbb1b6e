import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findClientServers } from './find-client-servers.ts'
import { readClientServers } from './read-client-servers.ts'

const env = { HOME: '/home/me', FOLDER: '/data', GITHUB_TOKEN: 'ghp_1234567890', TOOLDEX_API_KEY: 'own' }
const read = (value: unknown, file = 'mcp.json', cwd?: string) =>
  readClientServers(typeof value === 'string' ? value : JSON.stringify(value), { file, env, cwd })
const fields = (value: unknown, file?: string) =>
  Object.fromEntries(read(value, file).map((server) => [server.name, server.fields ?? server.skipped]))

const program = { command: 'npx', args: ['-y', 'server'] }

it.each([
  ['Claude Desktop, Cursor and Gemini', { mcpServers: { one: program } }],
  ['Claude Code', { mcpServers: { one: { type: 'stdio', ...program, env: {} } } }],
  ['VS Code', { servers: { one: { type: 'stdio', ...program } }, inputs: [] }],
  ['settings of VS Code', { mcp: { servers: { one: program } } }],
  ['Zed', { context_servers: { one: { source: 'custom', ...program } } }],
  ['older files of Zed', { context_servers: { one: { command: { path: 'npx', args: ['-y', 'server'] } } } }],
])('reads a program in the file of %s', (_, file) => {
  expect(fields(file)).toEqual({ one: program })
})

it('reads comments and trailing commas, and TOML of Codex', () => {
  const text = '{\n  // servers\n  "context_servers": { "one": { "command": "npx", "args": ["-y", "server"], }, },\n}'
  expect(fields(text)).toEqual({ one: program })
  const toml = `[mcp_servers.one]\ncommand = "npx"\nargs = ["-y", "server"]\n\n[mcp_servers.two]\nurl = "https://two.example/mcp"\nbearer_token_env_var = "TWO_TOKEN"\n`
  expect(fields(toml, 'config.toml')).toEqual({
    one: program,
    two: { url: 'https://two.example/mcp', headers: { Authorization: 'Bearer env:TWO_TOKEN' } },
  })
  expect(() => fields('{ "mcpServers": {', 'broken.json')).toThrow('broken.json is not valid JSON')
  expect(() => fields('[a', 'broken.toml')).toThrow('broken.toml is not valid TOML')
})

it('reads URLs under the keys of each client, and the servers of the present project', () => {
  const url = 'https://one.example/mcp'
  const servers = {
    a: { url },
    b: { httpUrl: url },
    c: { serverUrl: url },
    d: { type: 'http', url, headers: { 'X-Key': '$KEY' } },
  }
  expect(fields({ mcpServers: servers })).toEqual({
    a: { url },
    b: { url },
    c: { url },
    d: { url, headers: { 'X-Key': 'env:KEY' } },
  })
  const projects = { '/work': { mcpServers: { here: program } }, '/other': { mcpServers: { there: program } } }
  expect(read({ projects }, '.claude.json', '/work').map(({ name }) => name)).toEqual(['here'])
})

it('keeps variables as references, and fills others from the environment', () => {
  const one = {
    command: 'server',
    args: ['${FOLDER}', '${MODE:-fast}'],
    env: { A: '${env:GITHUB_TOKEN}', B: '${FOLDER}/b' },
  }
  expect(fields({ mcpServers: { one } })).toEqual({
    one: { command: 'server', args: ['/data', 'fast'], env: { A: 'env:GITHUB_TOKEN', B: '/data/b' } },
  })
})

it('keeps the older transport of a URL', () => {
  const servers = { older: { type: 'sse', url: 'https://one.example/sse' } }
  expect(fields({ mcpServers: servers })).toEqual({ older: { type: 'sse', url: 'https://one.example/sse' } })
})

it('skips what cannot be imported, with the reason', () => {
  const servers = {
    off: { ...program, disabled: true },
    own: { command: 'npx', args: ['-y', 'tooldex'] },
    installed: { command: '/usr/bin/node', args: ['/opt/tools/dist/app/main.js', 'run', 'git'] },
    empty: {},
    input: { ...program, env: { KEY: '${input:key}' } },
    unset: { command: '${NOWHERE}/server' },
    key: { ...program, env: { KEY: '${TOOLDEX_API_KEY}' } },
    secret: { command: 'server', args: ['--token=${GITHUB_TOKEN}'] },
  }
  const found = fields({ mcpServers: servers })
  expect(Object.values(found).every((reason) => typeof reason === 'string')).toBe(true)
  expect(found.unset).toBe('the variable NOWHERE is not set')
  expect(JSON.stringify(found)).not.toContain('ghp_')
})

it('gives every server a name that a source may have', () => {
  expect(read({ mcpServers: { 'My Files (work)': program, '123': program } }).map(({ name }) => name)).toEqual([
    'mcp-123',
    'My-Files-work',
  ])
})

it('lists the servers of other clients where the file of one is broken, and rejects it where it is named', () => {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-clients-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  mkdirSync(join(home, '.cursor'))
  writeFileSync(join(home, '.cursor', 'mcp.json'), '{ not json')
  writeFileSync(join(home, '.claude.json'), '{"mcpServers": {"notes": {"command": "notes-mcp"}}}')
  const environment = { home, env: {}, platform: 'linux' as const, cwd: home }
  expect(findClientServers(environment)).toMatchObject([
    { name: 'notes', fields: { command: 'notes-mcp' } },
    { name: 'mcp.json', skipped: expect.stringContaining('is not valid JSON') },
  ])
  expect(() => findClientServers(environment, join(home, '.cursor', 'mcp.json'))).toThrow('is not valid JSON')
})
