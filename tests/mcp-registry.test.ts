import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { invoke } from '../src/operations/invoke.ts'
import { activateTool, createTool, deactivateTool } from '../src/operations/registry/tools.ts'
import { createMcpServer } from '../src/surfaces/mcp/create-server.ts'
import { openRegistry } from './support/open-worlds.ts'
import { draft } from './support/rest.ts'

let registry: Awaited<ReturnType<typeof openRegistry>>
beforeAll(async () => {
  registry = await openRegistry()
  await registry.sync()
})
afterAll(() => registry.close())

/** A client of a server with this registry open, and how often it was told of changes. */
async function connect(mode: { classic: boolean; pinned: readonly string[] }) {
  const { context } = registry
  const server = createMcpServer({ name: 'test', version: '0', live: false, context, ...mode })
  const [near, far] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '0' })
  let told = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => void told++)
  await server.connect(far as unknown as Parameters<typeof server.connect>[0])
  await client.connect(near)
  context.catalogue.onChange(() => void server.sendToolListChanged().catch(() => {}))
  const names = async () => (await client.listTools()).tools.map(({ name }) => name)
  return { client, names, told: () => told }
}

it('lists registered tools, and tells of their changes, where a registry is open', async () => {
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
