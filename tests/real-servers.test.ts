import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { killProcesses, pidsOf } from './faults/processes.ts'
import { connect as connectStdio, type Revision, revisions } from './support/connect.ts'
import { eventually } from './support/keys.ts'
import { needs } from './support/needs.ts'
import { projectRoot } from './support/run-cli.ts'
import { type SharedPostgres, sharedPostgres } from './support/start-postgres.ts'
import { startServer, type TestServer } from './support/start-server.ts'

/** The published servers, with the number of their tools. */
const published = {
  everything: { script: '@modelcontextprotocol/server-everything/dist/index.js', tools: 13 },
  filesystem: { script: '@modelcontextprotocol/server-filesystem/dist/index.js', tools: 14 },
  memory: { script: '@modelcontextprotocol/server-memory/dist/index.js', tools: 9 },
  thinking: { script: '@modelcontextprotocol/server-sequential-thinking/dist/index.js', tools: 1 },
  debug: { script: '@modelcontextprotocol/server-debug/dist/index.js', tools: 3 },
  // It prints lines that are no messages.
  time: { script: 'time-mcp/dist/index.js', tools: 6 },
  git: { script: '@cyanheads/git-mcp-server/dist/index.js', tools: 28 },
  // Its SDK is of 2024, and knows only the first revision of the protocol.
  postgres: { script: '@modelcontextprotocol/server-postgres/dist/index.js', tools: 1 },
} as const
type ServerName = keyof typeof published
const names = Object.keys(published) as ServerName[]
const scriptOf = (name: ServerName) => join(projectRoot, 'node_modules', published[name].script)
const areInstalled = names.every((name) => existsSync(scriptOf(name)))
const hasGit = spawnSync('git', ['--version']).error === undefined
const test = needs(areInstalled && hasGit, 'needs the servers, run npm ci, and git')

let server: TestServer
let postgres: SharedPostgres

/** Each has the folder of this test among its arguments, by which its processes are found. */
async function definitionOf(name: ServerName) {
  const words: Partial<Record<ServerName, readonly string[]>> = {
    everything: ['stdio'],
    debug: ['--stdio'],
    postgres: name === 'postgres' ? [await postgres.createDatabase({ empty: true })] : [],
  }
  const env = name === 'memory' ? { env: { MEMORY_FILE_PATH: join(server.scripts, 'memory.jsonl') } } : {}
  return { command: process.execPath, args: [scriptOf(name), ...(words[name] ?? []), server.scripts], ...env }
}

/** The processes of a server and of its sandbox, by their ids outside of it. */
const processesOf = (script: string): readonly number[] => pidsOf(script, server.scripts)

async function add(name: string, definition: object): Promise<void> {
  const { approval } = (await server.request('POST', '/sources', { body: { name, ...definition } })).body
  const approved = await server.request('POST', `/sources/${name}/approve`, { body: { hash: approval.hash } })
  expect(approved.body, approved.text).toMatchObject({ state: 'started' })
}

beforeAll(async () => {
  if (!areInstalled || !hasGit) return
  postgres = await sharedPostgres()
  server = await startServer()
  for (const name of names) await add(name, await definitionOf(name))
})
afterAll(async () => {
  await server?.stop()
  await postgres?.stop()
})

async function connect(revision: Revision, transport: 'http' | 'stdio' = 'http'): Promise<Client> {
  if (transport === 'stdio') {
    const env = { TOOLDEX_API_KEY: server.key }
    return (await connectStdio(['--server', server.url], { revision, env })).client
  }
  const negotiation = revision === '2026-07-28' ? { versionNegotiation: { mode: 'auto' as const } } : {}
  const client = new Client({ name: 'test', version: '1.0.0' }, negotiation)
  const requestInit = { headers: { authorization: `Bearer ${server.key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }))
  onTestFinished(() => client.close())
  return client
}

const textOf = (result: object): string => JSON.stringify((result as { content?: unknown }).content)
const callWith = async (client: Client, name: string, args: object) =>
  client.callTool({ name: 'call_tool', arguments: { name, arguments: args } })

/** All tools of a source, with the description that its server gave. */
async function toolsOf(name: string): Promise<readonly { readonly tool: string; readonly description: string }[]> {
  return (await server.request('GET', `/sources/${name}`)).body.items.tools
}

const ways = revisions.flatMap((revision) =>
  (['http', 'stdio'] as const).map((transport) => [revision, transport] as const),
)

describe.each(ways)('the official client (%s, %s)', (revision, transport) => {
  test('finds and describes every tool of eight published servers', async () => {
    const client = await connect(revision, transport)
    for (const name of names) {
      const tools = await toolsOf(name)
      expect(tools.length, name).toBe(published[name].tools)
      for (const { tool, description } of tools) {
        const query = `${tool.replace(/^.*__/, '').replaceAll(/[_-]/g, ' ')}: ${description.slice(0, 200)}`
        const found = await client.callTool({ name: 'search_tools', arguments: { query, limit: 5 } })
        expect(textOf(found), query).toContain(tool)
      }
      const ids = tools.map(({ tool }) => tool)
      const described = await client.callTool({ name: 'describe_tool', arguments: { ids } })
      for (const id of ids) expect(textOf(described)).toContain(id)
    }
  })

  test('calls the tools of each, whose effects are real', async () => {
    const client = await connect(revision, transport)
    const call = async (name: string, args: object) => textOf(await callWith(client, name, args))
    const mark = `${transport}-${revision}`
    expect(await call('everything__get-sum', { a: 20, b: 22 })).toContain('42')
    expect(await call('everything__echo', { message: 'häuser' })).toContain('häuser')
    const path = join(server.scripts, `${mark}.txt`)
    await call('filesystem__write_file', { path, content: 'written through Tooldex' })
    expect(readFileSync(path, 'utf8')).toBe('written through Tooldex')
    writeFileSync(path, 'written beside it')
    expect(await call('filesystem__read_text_file', { path })).toContain('written beside it')
    const outside = await callWith(client, 'filesystem__read_text_file', { path: '/etc/hostname' })
    expect(outside).toMatchObject({ isError: true })
    const entities = [{ name: `ship ${mark}`, entityType: 'ship', observations: ['carries tea'] }]
    await call('memory__create_entities', { entities })
    expect(await call('memory__search_nodes', { query: mark })).toContain('carries tea')
    const thought = { thought: 'first', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false }
    expect(await call('thinking__sequentialthinking', thought)).toContain('thoughtHistoryLength')
    expect(await call('debug__debug-tool', { contentType: 'text' })).toContain('contentType')
    const time = { sourceTimezone: 'UTC', targetTimezone: 'Asia/Tokyo', time: '2026-01-02 03:04:05' }
    expect(await call('time__convert_time', time)).toContain('12:04:05')
    const repository = join(server.scripts, mark)
    await call('git__git_init', { path: repository })
    expect(existsSync(join(repository, '.git', 'HEAD'))).toBe(true)
    expect(await call('postgres__query', { sql: 'select 6 * 7 as answer' })).toContain('42')
  })
})

const killTest = needs(areInstalled && hasGit && existsSync('/proc/self/cmdline'), 'needs the servers, git and /proc')

killTest('is killed while in use: every call ends, the next one works, and the others are not affected', async () => {
  const client = await connect('2026-07-28')
  const echo = (message: string) => callWith(client, 'everything__echo', { message })
  expect(textOf(await echo('first'))).toContain('first')
  const running = Array.from({ length: 30 }, (_, index) => echo(`call ${index}`))
  await running[0]
  const killed = processesOf(scriptOf('everything'))
  expect(killed.length).toBeGreaterThan(0)
  killProcesses(killed)
  const ended = await Promise.all(running)
  for (const [index, result] of ended.entries())
    if (result.isError !== true) expect(textOf(result)).toContain(`call ${index}`)
  expect(textOf(await callWith(client, 'memory__read_graph', {}))).toContain('entities')
  const again = await eventually(
    () => echo('back'),
    (result) => textOf(result).includes('back'),
  )
  expect(again.isError).not.toBe(true)
  expect(processesOf(scriptOf('everything')).filter((pid) => killed.includes(pid))).toEqual([])
})

killTest('hangs while in use: its call ends at its deadline, and a later one works on a new start', async () => {
  const client = await connect('2026-07-28')
  expect(textOf(await callWith(client, 'time__days_in_month', { date: '2026-02-01' }))).toContain('28')
  const hung = processesOf(scriptOf('time'))
  expect(hung.length).toBeGreaterThan(0)
  for (const pid of hung) process.kill(pid, 'SIGSTOP')
  const body = { input: { date: '2026-02-01' }, wait: true, timeoutMs: 500 }
  const ended = await server.request('POST', '/tools/time__days_in_month/execute', { body })
  expect(ended.body, ended.text).toMatchObject({ status: 'TIMEOUT' })
  expect(textOf(await callWith(client, 'everything__echo', { message: 'meanwhile' }))).toContain('meanwhile')
  const again = await eventually(
    () => callWith(client, 'time__days_in_month', { date: '2028-02-01' }),
    (result) => textOf(result).includes('29'),
  )
  expect(again.isError).not.toBe(true)
  expect(processesOf(scriptOf('time')).filter((pid) => hung.includes(pid))).toEqual([])
})

killTest('101: is another release after a restart: its changed definitions are held and shown', async () => {
  const script = join(server.scripts, 'release.mjs')
  const release = (name: ServerName) => writeFileSync(script, `import ${JSON.stringify(scriptOf(name))}\n`)
  release('time')
  await add('release', { command: process.execPath, args: [script] })
  const before = await toolsOf('release')
  expect(before).toHaveLength(published.time.tools)
  const client = await connect('2025-11-25')
  expect(textOf(await callWith(client, 'release__days_in_month', { date: '2026-02-01' }))).toContain('28')
  release('thinking')
  killProcesses(processesOf(script))
  const changed = await eventually(
    async () => {
      await callWith(client, 'release__days_in_month', { date: '2026-02-01' })
      return (await server.request('GET', '/sources/release')).body
    },
    ({ waiting }) => waiting > 0,
  )
  expect(changed.waiting).toBe(published.time.tools + published.thinking.tools)
  expect(changed.changes).toContainEqual(
    expect.objectContaining({ item: 'tools/sequentialthinking', change: 'added', decision: 'waiting' }),
  )
  expect(changed.changes).toContainEqual(
    expect.objectContaining({ item: 'tools/days_in_month', change: 'removed', class: 'breaking' }),
  )
  expect(await toolsOf('release')).toEqual(before)
})
