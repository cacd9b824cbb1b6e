import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { HttpServer, StdioServer } from '../src/contract/mcp-server.ts'
import type { SourceManifest } from '../src/contract/source.ts'
import { approvalHash } from '../src/rules/server-definition.ts'
import { createStores } from '../src/storage/index.ts'
import { openMigrated } from './support/migrated-database.ts'
import { changingServer, tool } from './support/open-sources.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { lastingFolder } from './support/temp-folder.ts'

const names = Array.from({ length: 30 }, (_, index) => `source${index}`)
const tools = ['read', 'write', 'list'].map((name) => tool(name))
const manifest: SourceManifest = {
  tools,
  prompts: [{ name: 'summarize' }],
  resources: [],
  templates: [],
  readAt: new Date(0).toISOString(),
  protocolVersion: '2025-11-25',
  serverInfo: { name: 'changing', version: '1.0.0' },
  instructions: null,
}
const archives = new Map(names.map((name) => [name, changingServer({ tools }, lastingFolder())]))
// They are started, and never answer.
const silent = changingServer({ silent: 'initialize' }, lastingFolder())
const late = changingServer({ silent: 'initialize' }, lastingFolder())
const longMs = 300_000
const caller = { workspace: 'default', actor: 'tester' }

let server: TestServer
let without: TestServer

/** A port that nothing listens on any more. */
async function closedPort(): Promise<number> {
  const listening = createServer().listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo
  await new Promise((resolve) => listening.close(resolve))
  return port
}

/** Sources as a server that has read them leaves them. */
async function storeSources(home: string): Promise<void> {
  const database = await openMigrated({ home })
  const { sources } = createStores(database)
  const add = async (name: string, definition: Parameters<typeof approvalHash>[0]) => {
    await sources.create(caller, { name, server: definition, trust: 'hold' })
    const change = { approvedHash: approvalHash(definition), manifest }
    await sources.change(caller, name, () => ({ action: 'approve', change }))
  }
  for (const [name, { definition }] of archives) await add(name, StdioServer.parse(definition))
  await add('silent', StdioServer.parse({ ...silent.definition, connectTimeoutMs: longMs, timeoutMs: longMs }))
  await add('late', StdioServer.parse({ ...late.definition, connectTimeoutMs: 300 }))
  await add('absent', StdioServer.parse({ command: '/no/such/program' }))
  await add('refused', HttpServer.parse({ url: `http://127.0.0.1:${await closedPort()}/mcp`, allowPrivate: true }))
  await database.close()
}

beforeAll(async () => {
  const home = lastingFolder()
  await storeSources(home)
  ;[server, without] = await Promise.all([startServer({ home }), startServer()])
})
afterAll(() => Promise.all([server?.stop(), without?.stop()]))

async function connect({ url, key }: TestServer): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  onTestFinished(() => client.close())
  return client
}

const allStarts = () => [...archives.values(), silent, late].flatMap((each) => each.starts())
const sourcesOf = async (): Promise<readonly { name: string; state: string; tools: number; problem?: string }[]> =>
  (await server.request('GET', '/sources')).body.items
const call = async (client: Client, name: string) =>
  JSON.stringify(await client.callTool({ name: 'call_tool', arguments: { name, arguments: {} } }, { timeout: longMs }))

it('offers the tools of thirty sources from their stored definitions, and starts none of them', async () => {
  const client = await connect(server)
  const found = await client.callTool({ name: 'search_tools', arguments: { query: 'runs write of the archive' } })
  expect(JSON.stringify(found)).toContain('__write')
  const ids = names.map((name) => `${name}__read`)
  const described = JSON.stringify(await client.callTool({ name: 'describe_tool', arguments: { ids } }))
  for (const id of ids) expect(described).toContain(id)
  expect((await client.listPrompts()).prompts).toContainEqual(expect.objectContaining({ name: 'source7.summarize' }))
  const states = await sourcesOf()
  for (const name of names) expect(states).toContainEqual(expect.objectContaining({ name, state: 'known', tools: 3 }))
  expect(allStarts()).toEqual([])
})

it('lists the same to a client as without any source', async () => {
  const [having, none] = [await connect(server), await connect(without)]
  expect((await having.listTools()).tools).toEqual((await none.listTools()).tools)
  expect(having.getInstructions()).toBe(none.getInstructions())
  expect(allStarts()).toEqual([])
})

it('waits for no server that never answers: others are listed and called, and the list shows which fail and why', async () => {
  const client = await connect(server)
  let hasEnded = false
  const waiting = call(client, 'silent__read').finally(() => {
    hasEnded = true
  })
  await expect.poll(() => silent.starts()).toHaveLength(1)
  expect(await call(client, 'source3__read')).toContain('read ran')
  // The start of each server has a timeout of its own.
  expect(await call(client, 'late__read')).toContain('did not respond within')
  expect(await call(client, 'absent__read')).toContain('/no/such/program')
  expect(await call(client, 'refused__read')).toContain('ECONNREFUSED')
  const failing = async () => (await sourcesOf()).filter(({ state }) => state === 'failed').map(({ name }) => name)
  await expect.poll(failing).toEqual(['absent', 'late', 'refused'])
  expect(hasEnded).toBe(false)
  silent.kill()
  expect(await waiting).toMatch(/ended (by SIGKILL|with exit code 137)/)
  await expect.poll(failing).toEqual(['absent', 'late', 'refused', 'silent'])
  const listed = new Map((await sourcesOf()).map((source) => [source.name, source]))
  expect(listed.get('late')).toMatchObject({ tools: 3, problem: expect.stringContaining('did not respond within') })
  expect(listed.get('absent')?.problem).toContain('/no/such/program')
  expect(listed.get('refused')?.problem).toContain('ECONNREFUSED')
  expect(listed.get('source3')).toMatchObject({ state: 'started' })
  const started = [...archives].flatMap(([name, each]) => (each.starts().length > 0 ? [name] : []))
  expect(started).toEqual(['source3'])
})
