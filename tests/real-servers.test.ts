import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { killProcesses, pidsOf } from './faults/processes.ts'
import { type Revision, revisions } from './support/connect.ts'
import { eventually } from './support/keys.ts'
import { needs } from './support/needs.ts'
import { projectRoot } from './support/run-cli.ts'
import { startServer, type TestServer } from './support/start-server.ts'

const names = ['everything', 'filesystem', 'memory'] as const
const scriptOf = (name: string) => join(projectRoot, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`)
const areInstalled = names.every((name) => existsSync(scriptOf(name)))
const test = needs(areInstalled, 'the servers are not installed, run npm ci')

let server: TestServer

/** Each has the folder of this test among its arguments, by which its processes are found. */
function definitionOf(name: (typeof names)[number]) {
  const args = { everything: ['stdio', server.scripts], filesystem: [server.scripts], memory: [server.scripts] }[name]
  const env = name === 'memory' ? { env: { MEMORY_FILE_PATH: join(server.scripts, 'memory.jsonl') } } : {}
  return { command: process.execPath, args: [scriptOf(name), ...args], ...env }
}

/** The processes of a server and of its sandbox, by their ids outside of it. */
const processesOf = (name: string): readonly number[] => pidsOf(scriptOf(name), server.scripts)

beforeAll(async () => {
  if (!areInstalled) return
  server = await startServer()
  for (const name of names) {
    const { approval } = (await server.request('POST', '/sources', { body: { name, ...definitionOf(name) } })).body
    const approved = await server.request('POST', `/sources/${name}/approve`, { body: { hash: approval.hash } })
    expect(approved.body, approved.text).toMatchObject({ state: 'started' })
  }
})
afterAll(() => server?.stop())

async function connect(revision: Revision): Promise<Client> {
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

const counts = { everything: 13, filesystem: 14, memory: 9 }

describe.each(revisions)('the official client over /mcp (%s)', (revision) => {
  test('finds and describes every tool of three published servers', async () => {
    const client = await connect(revision)
    for (const name of names) {
      const tools = await toolsOf(name)
      expect(tools.length, name).toBe(counts[name])
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
    const client = await connect(revision)
    expect(textOf(await callWith(client, 'everything__get-sum', { a: 20, b: 22 }))).toContain('42')
    expect(textOf(await callWith(client, 'everything__echo', { message: 'häuser' }))).toContain('häuser')
    const path = join(server.scripts, `${revision}.txt`)
    await callWith(client, 'filesystem__write_file', { path, content: 'written through Tooldex' })
    expect(readFileSync(path, 'utf8')).toBe('written through Tooldex')
    writeFileSync(path, 'written beside it')
    expect(textOf(await callWith(client, 'filesystem__read_text_file', { path }))).toContain('written beside it')
    const outside = await callWith(client, 'filesystem__read_text_file', { path: '/etc/hostname' })
    expect(outside).toMatchObject({ isError: true })
    const entities = [{ name: `ship ${revision}`, entityType: 'ship', observations: ['carries tea'] }]
    await callWith(client, 'memory__create_entities', { entities })
    expect(textOf(await callWith(client, 'memory__search_nodes', { query: revision }))).toContain('carries tea')
  })
})

const killTest = needs(areInstalled && existsSync('/proc/self/cmdline'), 'needs the servers, and /proc')

killTest('is killed while in use: every call ends, the next one works, and the others are not affected', async () => {
  const client = await connect('2026-07-28')
  const echo = (message: string) => callWith(client, 'everything__echo', { message })
  expect(textOf(await echo('first'))).toContain('first')
  const running = Array.from({ length: 30 }, (_, index) => echo(`call ${index}`))
  await running[0]
  const killed = processesOf('everything')
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
  expect(processesOf('everything').filter((pid) => killed.includes(pid))).toEqual([])
})
