import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { invoke } from '../src/operations/invoke.ts'
import { activateTool, changeTool, createTool, deactivateTool } from '../src/operations/registry/tools.ts'
import { createMcpServer } from '../src/surfaces/mcp/create-server.ts'
import { toolsOfContext } from '../src/surfaces/mcp/mcp-tools.ts'
import { McpEndpoint } from '../src/surfaces/mcp/serve-http.ts'
import { openRegistry } from './support/open-registry.ts'
import { draft } from './support/rest.ts'

let registry: Awaited<ReturnType<typeof openRegistry>>
beforeAll(async () => {
  registry = await openRegistry()
  await registry.sync()
})
afterAll(() => registry.close())

/** A client of a server with this registry open, and how often it was told of changes. */
async function connect(mode: { classic: boolean; pinned: readonly string[] }, { context } = registry) {
  const server = createMcpServer({ name: 'test', version: '0', tools: toolsOfContext(context, mode, false) })
  const [near, far] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '0' })
  let told = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => void told++)
  await server.connect(far as unknown as Parameters<typeof server.connect>[0])
  await client.connect(near)
  context.catalog.onChange(() => void server.sendToolListChanged().catch(() => {}))
  const names = async () => (await client.listTools()).tools.map(({ name }) => name)
  return { client, names, told: () => told }
}

it('lists registered tools, and notifies of their changes, where a registry is open', async () => {
  const { context, sync } = registry
  const classic = await connect({ classic: true, pinned: [] })
  const pinned = await connect({ classic: false, pinned: ['came_later'] })
  expect(classic.client.getServerCapabilities()?.tools?.listChanged).toBe(true)
  expect(await classic.names()).toEqual([])
  await invoke(createTool, draft('came_later'), context)
  await sync()
  expect([classic.told(), await classic.names()]).toEqual([0, []])
  await invoke(activateTool, { idOrName: 'came_later' }, context)
  await sync()
  await expect.poll(() => [classic.told(), pinned.told()]).toEqual([1, 1])
  expect(await classic.names()).toEqual(['came_later'])
  expect(await pinned.names()).toEqual(['search_tools', 'describe_tool', 'call_tool', 'came_later'])
  await sync()
  await invoke(deactivateTool, { idOrName: 'came_later' }, context)
  await sync()
  await expect.poll(() => classic.told()).toBe(2)
  expect([await classic.names(), await pinned.names()]).toEqual([[], ['search_tools', 'describe_tool', 'call_tool']])
})

it('lists and calls the tool of a config under its name, where the registry has one of this name', async () => {
  const both = await openRegistry(['coreutils'])
  try {
    const { context } = both
    for (const fields of [draft('coreutils_echo'), draft('coreutils_cat', { namespace: 'acme' })]) {
      await invoke(createTool, fields, context)
      await invoke(activateTool, { idOrName: fields.name }, context)
    }
    await both.sync()
    const pins = ['coreutils_echo', 'coreutils:coreutils_cat']
    for (const mode of [
      { classic: true, pinned: [] },
      { classic: false, pinned: pins },
    ]) {
      const { client } = await connect(mode, both)
      const { tools } = await client.listTools()
      for (const shared of ['coreutils_echo', 'coreutils_cat']) {
        const [own, ...others] = tools.filter(({ name }) => name === shared)
        expect([own?.description === 'Does one thing.', others]).toEqual([false, []])
      }
      const names = tools.filter(({ description }) => description === 'Does one thing.').map(({ name }) => name)
      expect(names).toEqual(mode.classic ? ['acme_coreutils_cat', 'registry_coreutils_echo'] : [])
      // The name alone would mean either: what is listed is called all the same.
      const cat = await client.callTool({ name: 'coreutils_cat', arguments: { files: '/dev/null' } })
      expect(cat.isError, JSON.stringify(cat)).toBeFalsy()
    }
    const { client } = await connect({ classic: false, pinned: [] }, both)
    for (const level of ['line', 'summary']) {
      const found = await client.callTool({ name: 'search_tools', arguments: { query: 'coreutils_echo', level } })
      const { results } = found.structuredContent as { results: readonly { id: string; callAs?: string }[] }
      const callAs = new Map(results.map((hit) => [hit.id, hit.callAs]))
      expect(callAs.get('coreutils:coreutils_echo')).toBe('coreutils:coreutils_echo')
      expect(callAs.get('coreutils_echo')).toBe('registry:coreutils_echo')
      expect(JSON.stringify(found.content)).toMatch(/coreutils:coreutils_echo[(:]/)
    }
    const called = await client.callTool({ name: 'call_tool', arguments: { name: 'coreutils_echo', arguments: {} } })
    expect(JSON.stringify(called)).toContain('is ambiguous: coreutils:coreutils_echo, registry:coreutils_echo')
  } finally {
    await both.close()
  }
})

it('lists the icons and metadata of a registered tool', async () => {
  const { context } = registry
  const extras = {
    icons: [{ src: 'https://example.org/i.png', sizes: ['48x48'] }],
    _meta: { 'com.example/color': 'red' },
  }
  await invoke(createTool, draft('has_icon', extras), context)
  await invoke(activateTool, { idOrName: 'has_icon' }, context)
  await registry.sync()
  const { client } = await connect({ classic: true, pinned: [] })
  const { tools } = await client.listTools()
  expect(tools.find(({ name }) => name === 'has_icon')).toMatchObject(extras)
})

it('holds a pinned version to the approval that the latest requires', async () => {
  const { context } = registry
  await invoke(createTool, draft('pays_bills'), context)
  await invoke(activateTool, { idOrName: 'pays_bills' }, context)
  await invoke(changeTool, { idOrName: 'pays_bills', annotations: { requiresApproval: true } }, context)
  for (const scopes of [['read', 'call'] as const, ['read', 'call', 'write', 'admin'] as const]) {
    const scoped = { ...registry, context: { ...context, scopes: new Set(scopes) } }
    const { client } = await connect({ classic: false, pinned: [] }, scoped)
    for (const pin of [{ name: 'pays_bills', version: 1 }, { name: 'pays_bills@1' }]) {
      const called = await client.callTool({ name: 'call_tool', arguments: { ...pin, arguments: {} } })
      expect([called.isError, JSON.stringify(called.content)]).toEqual([
        true,
        expect.stringMatching(scopes.length === 2 ? /needs the scope 'write'/ : /which cannot be given here/),
      ])
    }
  }
})

it('ends a stream of changes when its caller is revoked, even after a garbage collection', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const revoked = new AbortController()
  const endpoint = new McpEndpoint({ version: '0', logger: registry.context.logger })
  const method = 'subscriptions/listen'
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const open = async () => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
    }
    const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body: '{}' })
    const params = { notifications: { toolsListChanged: true }, _meta }
    const context = { ...registry.context, signal: revoked.signal } as never
    return endpoint.respond({ request, context, readBody: async () => ({ jsonrpc: '2.0', id: 1, method, params }) })
  }
  const response = await open()
  for (let round = 0; round < 5; round++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  revoked.abort()
  expect(await response.text()).toContain('subscriptions/acknowledged')
  await endpoint.close()
})
