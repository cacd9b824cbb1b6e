import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invoke } from '../src/operations/invoke.ts'
import { listForModel } from '../src/operations/registry/definitions.ts'
import { activateTool, createTool } from '../src/operations/registry/tools.ts'
import { openRegistry } from './support/open-registry.ts'
import { draft, register } from './support/rest.ts'
import { projectRoot } from './support/run-cli.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { lastingFolder } from './support/temp-folder.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ home: lastingFolder() })
})
afterAll(() => server?.stop())

const config = (name: string, text: string) =>
  `command: echo\nname: ${name}\ntools:\n  - {name: ${name}_say, description: Says ${text}., command: ${text}}\n`
const write = (name: string, text: string) => writeFileSync(join(server.home, 'configs', name), text)
const definitions = async () => (await server.request('GET', '/llm/tools')).body
const described = async () =>
  (await definitions()).definitions.map(({ description }: { description: string }) => description).sort()

describe('the configs of a server', () => {
  it('contain no bundled one by default', async () => {
    expect((await definitions()).tools).toEqual([])
    const { body } = await server.request('GET', '/sources')
    expect(body.items.map(({ kind }: { kind: string }) => kind)).toEqual(['registry'])
  })

  it('are those in TOOLDEX_HOME/configs, as they come, change, break and go', async () => {
    write('one.yaml', config('one', 'first'))
    await expect.poll(described).toEqual(['Says first.'])
    write('two.yaml', config('two', 'second'))
    await expect.poll(described).toEqual(['Says first.', 'Says second.'])
    // A broken edit of one keeps its tools, and does not keep the other from changing.
    write('one.yaml', 'command: echo\ntools: [{name: half')
    write('two.yaml', config('two', 'changed'))
    await expect.poll(described).toEqual(['Says changed.', 'Says first.'])
    await expect.poll(server.stderr).toMatch(/its previous tools stay active: .*one\.yaml:2:/)
    const sources = async () => (await server.request('GET', '/sources')).body.items
    await expect.poll(sources).toContainEqual(expect.objectContaining({ kind: 'config', name: 'one', state: 'stale' }))
    rmSync(join(server.home, 'configs', 'one.yaml'))
    await expect.poll(described).toEqual(['Says changed.'])
    rmSync(join(server.home, 'configs', 'two.yaml'))
    await expect.poll(described).toEqual([])
  })
})

it('takes over edits of servers.json while it runs', async () => {
  const servers = (name: string) => {
    const args = [join(projectRoot, 'tests', 'upstreams', 'official-server.mjs'), 'stdio', 'both']
    const text = JSON.stringify({ mcpServers: { [name]: { command: process.execPath, args } } })
    writeFileSync(join(server.home, 'servers.json'), text)
  }
  const call = async () =>
    (await server.request('POST', '/tools/adds/execute', { body: { input: { a: 1, b: 2 }, wait: true } })).body
  const inputSchema = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } }
  servers('numbers')
  const fields = { executorType: 'mcp', executorConfig: { server: 'numbers', tool: 'add' }, inputSchema }
  await expect
    .poll(async () => (await server.request('POST', '/tools', { body: draft('adds', fields) })).status)
    .toBe(201)
  await expect.poll(async () => (await server.request('POST', '/tools/adds/activate')).status).toBe(200)
  await expect.poll(call).toMatchObject({ status: 'SUCCESS', outputData: { sum: 3 } })
  servers('others')
  await expect.poll(async () => (await call()).code ?? (await call()).errorCode).toBe('UPSTREAM_UNKNOWN')
  writeFileSync(join(server.home, 'servers.json'), '{ "mcpServers": ')
  await expect.poll(server.stderr).toContain('Reload rejected, the previous MCP servers stay')
  servers('numbers')
  await expect.poll(async () => (await call()).status).toBe('SUCCESS')
})

it('starts with a broken file in the folder, and logs it', async () => {
  await register(server, 'stays')
  write('broken.yaml', 'command: [')
  await expect.poll(server.stderr).toMatch(/left out: .*broken\.yaml/)
  await server.stop()
  const again = await startServer({ home: server.home })
  try {
    await expect.poll(again.stderr).toMatch(/left out: .*broken\.yaml/)
    expect((await again.request('GET', '/tools/stays')).status).toBe(200)
  } finally {
    await again.stop()
  }
})

it('offers registered tools first, page by page, each under one name', async () => {
  const registry = await openRegistry(['coreutils'])
  try {
    const { context } = registry
    for (const name of ['zebra', 'aardvark', 'coreutils_echo']) {
      await invoke(createTool, draft(name), context)
      await invoke(activateTool, { idOrName: name }, context)
    }
    await registry.sync()
    const whole = await invoke(listForModel, { format: 'openai', limit: 1000 }, context)
    expect(whole.tools.slice(0, 3).map(({ id }) => id)).toEqual(['aardvark', 'registry:coreutils_echo', 'zebra'])
    expect([whole.nextCursor, whole.omitted]).toEqual([undefined, 0])
    const pages: unknown[] = []
    let cursor: string | undefined
    do {
      const page = await invoke(listForModel, { format: 'openai', limit: 7, cursor }, context)
      pages.push(...page.tools)
      expect(page.omitted).toBe(whole.tools.length - pages.length)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(pages).toEqual(whole.tools)
  } finally {
    await registry.close()
  }
})
