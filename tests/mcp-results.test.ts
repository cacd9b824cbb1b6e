import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { invoke } from '../src/operations/invoke.ts'
import { changeTool, deactivateTool, deprecateTool } from '../src/operations/registry/tools.ts'
import { createMcpServer } from '../src/surfaces/mcp/create-server.ts'
import { toolsOfContext } from '../src/surfaces/mcp/mcp-tools.ts'
import { connect, revisions } from './support/connect.ts'
import { openRecorded } from './support/open-recorded.ts'
import { tempFile, tempScript } from './support/temp-folder.ts'

type Result = Awaited<ReturnType<Client['callTool']>> & {
  content: { type: string; text?: string; uri?: string; mimeType?: string; size?: number }[]
  // biome-ignore lint/suspicious/noExplicitAny: answers are read field by field in tests
  structuredContent: any
}
const callTool = async (client: Client, name: string, args: object = {}, more: object = {}) =>
  (await client.callTool({ name: 'call_tool', arguments: { name, arguments: args, ...more } })) as Result

/** A config whose tools print much, and count how often they ran. */
function config(): string {
  const script = tempScript(
    'much.sh',
    '#!/bin/sh\nif [ "$1" = json ]; then printf \'{"rows":[\'; for i in $(seq 9999); do printf \'{"id":%d,"name":"row"},\' $i; done; printf \'{"id":10000,"name":"last"}]}\'; else seq 1 "$1"; date +%N; fi\n',
  )
  return tempFile(
    'much.yaml',
    `name: much\ndescription: prints\ncommand: ${script}\ntools:\n  - name: much_lines\n    description: prints lines\n    args:\n      - {name: count, positional: true, required: true}\n`,
  )
}

describe.each(revisions)('large outputs over stdio without a database, %s', (revision) => {
  it('come as a beginning with a handle, a link, and the ways to read on', async () => {
    const { client } = await connect([config()], { revision })
    const result = await callTool(client, 'much_lines', { count: '40000' })
    const { stored, stdout } = result.structuredContent
    expect(stdout.length).toBeLessThan(3000)
    expect(stored).toMatchObject({ mediaType: 'text/plain', bytes: expect.any(Number) })
    expect(result.content[0]?.text).toContain(`name "tooldex:read_result", arguments {"handle": "${stored.handle}"}`)
    const uri = `tooldex://results/${stored.handle}`
    expect(result.content[1]).toMatchObject({ type: 'resource_link', uri, mimeType: 'text/plain', size: stored.bytes })
    const { contents } = await client.readResource({ uri })
    const [whole] = contents as { text: string }[]
    expect(Buffer.byteLength(whole?.text ?? '')).toBe(stored.bytes)
    expect(whole?.text.startsWith('1\n2\n')).toBe(true)
    const page = await callTool(client, 'tooldex:read_result', { handle: stored.handle, offset: 39_998, limit: 2 })
    expect(page.structuredContent.output).toMatchObject({
      items: ['39999', '40000'],
      total: 40_001,
      nextOffset: 40_000,
    })
    const found = await callTool(client, 'tooldex:read_result', { handle: stored.handle, grep: '^1234.$' })
    expect(found.structuredContent.output.items[0]).toBe('12339: 12340')
  })

  it('are read by JSONPath where they are JSON', async () => {
    const { client } = await connect([config()], { revision })
    const { structuredContent } = await callTool(client, 'much_lines', { count: 'json' })
    const read = { handle: structuredContent.stored.handle, path: '$.rows[-1].name' }
    const { structuredContent: page } = await callTool(client, 'tooldex:read_result', read)
    expect(page.output).toMatchObject({ items: ['last'], total: 1 })
  })
})

describe('the built-in tools over stdio', () => {
  it('are described on request, and in no list', async () => {
    const { client } = await connect([config()])
    const ids = ['tooldex:read_result', 'tooldex:read_execution']
    const described = (await client.callTool({ name: 'describe_tool', arguments: { ids } })) as Result
    const { tools } = described.structuredContent
    expect(tools.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(Object.keys(tools[0].tool.inputSchema.properties)).toEqual(['handle', 'offset', 'limit', 'grep', 'path'])
    const found = (await client.callTool({ name: 'search_tools', arguments: { query: 'read result' } })) as Result
    expect(JSON.stringify(found.structuredContent.results)).not.toContain('tooldex:')
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'search_tools',
      'describe_tool',
      'call_tool',
    ])
    const unknown = (await client.callTool({
      name: 'describe_tool',
      arguments: { ids: ['tooldex:nothing'] },
    })) as Result
    expect(unknown).toMatchObject({ isError: true, structuredContent: { error: { code: 'TOOL_NOT_FOUND' } } })
  })

  it('report an unknown handle, an invalid pattern and a missing database', async () => {
    const { client } = await connect([config()])
    const handle = '00000000-0000-4000-8000-000000000000'
    const gone = await callTool(client, 'tooldex:read_result', { handle })
    expect(gone).toMatchObject({ isError: true, structuredContent: { error: { code: 'NOT_FOUND' } } })
    await expect(client.readResource({ uri: `tooldex://results/${handle}` })).rejects.toThrow('Unknown handle')
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow('Unknown resource')
    const { structuredContent } = await callTool(client, 'much_lines', { count: '40000' })
    const read = { handle: structuredContent.stored.handle, grep: '(' }
    expect((await callTool(client, 'tooldex:read_result', read)).structuredContent.error.code).toBe('INPUT_INVALID')
    const misspelled = await callTool(client, 'tooldex:read_result', { handle, limitt: 1 })
    expect(misspelled.structuredContent.error.message).toContain("unknown key 'limitt'. Did you mean 'limit'?")
    const run = await callTool(client, 'tooldex:read_execution', { id: handle })
    expect(run).toMatchObject({ isError: true, structuredContent: { error: { code: 'UNAVAILABLE' } } })
  })

  it('make a call once under a key: the same answer, the same handle', async () => {
    const { client } = await connect([config()])
    const once = () => callTool(client, 'much_lines', { count: '40000' }, { idempotencyKey: 'k' })
    const [first, second] = await Promise.all([once(), once()])
    expect(second.structuredContent).toEqual(first.structuredContent)
    const other = await callTool(client, 'much_lines', { count: '2' }, { idempotencyKey: 'k' })
    expect(other).toMatchObject({ isError: true, structuredContent: { error: { code: 'KEY_REUSED' } } })
  })

  it('serve tools that are listed themselves, too', async () => {
    const { client } = await connect(['--classic', config()])
    const result = (await client.callTool({ name: 'much_lines', arguments: { count: '40000' } })) as Result
    const link = (result.content as { type: string; uri?: string }[]).find(({ type }) => type === 'resource_link')
    const { contents } = await client.readResource({ uri: link?.uri ?? '' })
    expect((contents[0] as { text: string }).text.split('\n')).toHaveLength(40_002)
  })
})

describe('call_tool where calls are recorded', () => {
  let world: Awaited<ReturnType<typeof openRecorded>>
  beforeAll(async () => {
    world = await openRecorded()
    await world.register('words', { script: 'echo "said $1"' })
    await world.register('liar', {
      script: `printf '{"sum": "%s"}' "$1"`,
      outputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
    })
    await world.register('floods', {
      script: 'i=0; while [ $i -lt 3000 ]; do echo "$1 $i"; i=$((i+1)); done; sleep 1; echo end',
    })
    await world.register('much', { script: 'seq 1 40000' })
    await world.register('asks', { script: 'echo asked', annotations: { requiresApproval: true } })
  })
  afterAll(() => world?.close())

  async function open(): Promise<Client> {
    const { context } = world
    const tools = toolsOfContext(context, { classic: false, pinned: [] }, true)
    const server = createMcpServer({ name: 'tooldex', version: '0', tools })
    const [near, far] = InMemoryTransport.createLinkedPair()
    await server.connect(far as never)
    const client = new Client({ name: 'test', version: '1' })
    onTestFinished(() => client.close())
    await client.connect(near)
    return client
  }
  const rows = async (tool: string) => (await world.stores.executions.list('default', { tool, limit: 100 })).items

  it('gives the id of the run, which read_execution reads', async () => {
    const client = await open()
    const { structuredContent } = await callTool(client, 'words', { word: 'hi' })
    expect(structuredContent).toMatchObject({ stdout: 'said hi\n', exitCode: 0 })
    const read = await callTool(client, 'tooldex:read_execution', { id: structuredContent.executionId })
    expect(read.structuredContent.output).toMatchObject({
      toolName: 'words',
      status: 'SUCCESS',
      outputData: 'said hi\n',
    })
  })

  it('50: arguments that are missing, too many or of the wrong type are a tool error, and nothing is run or recorded', async () => {
    const client = await open()
    const before = (await rows('words')).length
    for (const args of [{}, { word: 7 }, { word: 'x', extra: 1 }, { word: 'x', count: 'many' }, { word: null }]) {
      const result = await callTool(client, 'words', args)
      expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'INPUT_INVALID' } } })
      expect(result.structuredContent.error.errors.length).toBeGreaterThan(0)
    }
    expect(await rows('words')).toHaveLength(before)
  })

  it('51: an output that breaks its schema is a tool error, and what was printed is kept in the row', async () => {
    const client = await open()
    const result = await callTool(client, 'liar', { word: 'much' })
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { status: 'FAILED', errorCode: 'OUTPUT_INVALID' },
    })
    const run = await world.stores.executions.get('default', result.structuredContent.executionId)
    expect(run).toMatchObject({ status: 'FAILED', errorCode: 'OUTPUT_INVALID', outputData: { sum: 'much' } })
  })

  it('55: a draft or disabled tool is not found and not called, not even between the two; a deprecated one warns', async () => {
    const client = await open()
    await world.register('sketch', { script: 'echo no', status: 'DRAFT' })
    await world.register('soon_off', { script: 'echo off' })
    const found = async (query: string) => {
      const result = (await client.callTool({ name: 'search_tools', arguments: { query } })) as Result
      return result.structuredContent.results.map(({ name }: { name: string }) => name)
    }
    expect(await found('sketch')).not.toContain('sketch')
    expect(await found('soon_off')).toContain('soon_off')
    // Disabled after it was found, and before whoever looks has heard of it.
    await invoke(deactivateTool, { idOrName: 'soon_off' }, world.context)
    for (const name of ['sketch', 'soon_off']) {
      const result = await callTool(client, name, { word: 'x' })
      expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'TOOL_DISABLED' } } })
      expect(await rows(name)).toEqual([])
    }
    await world.register('old_words', { script: 'echo old' })
    await invoke(deprecateTool, { idOrName: 'old_words' }, world.context)
    await world.sync()
    expect(await found('old_words')).not.toContain('old_words')
    const old = await callTool(client, 'old_words', { word: 'x' })
    expect(old.structuredContent).toMatchObject({
      stdout: 'old\n',
      warning: 'old_words is deprecated and may be removed.',
    })
  })

  it('56: a flood of output is reported a few times a second, with numbers that only grow', async () => {
    const client = await open()
    const seen: number[] = []
    const started = performance.now()
    await client.callTool(
      { name: 'call_tool', arguments: { name: 'floods', arguments: { word: 'x' } } },
      { onprogress: ({ progress }) => void seen.push(progress) },
    )
    expect(seen.length).toBeGreaterThan(0)
    // A slower machine has more seconds to report in.
    expect(seen.length).toBeLessThan(10 + (10 * (performance.now() - started)) / 1000)
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
  })

  it('keeps large outputs in the database, by handle and as a resource', async () => {
    const client = await open()
    const { structuredContent } = await callTool(client, 'much', { word: 'x' })
    const uri = `tooldex://results/${structuredContent.stored.handle}`
    const [whole] = (await client.readResource({ uri })).contents as { text: string }[]
    expect(whole?.text.split('\n')).toHaveLength(40_001)
  })

  it('reports that a call waits for approval, and how to read its result', async () => {
    const client = await open()
    const result = await callTool(client, 'asks', { word: 'x' })
    expect(result.structuredContent).toMatchObject({ waitsFor: 'approval', executionId: expect.any(String) })
    expect(result.content[0]?.text).toContain('tooldex:read_execution')
    const { executionId: id } = result.structuredContent
    await world.stores.executions.decide({ workspace: 'default', actor: 'key:boss' }, id, {
      approve: false,
      queueMs: 60_000,
      note: 'no',
    })
    const read = await callTool(client, 'tooldex:read_execution', { id })
    expect(read.structuredContent.output).toMatchObject({
      status: 'CANCELLED',
      errorMessage: 'The call was refused: no',
    })
  })

  it('runs the requested version, once for an idempotency key', async () => {
    const client = await open()
    await world.register('versions', { script: 'echo one' })
    const { executorConfig } = (await world.stores.tools.get('default', 'words')) ?? {}
    await invoke(changeTool, { idOrName: 'versions', executorConfig }, world.context)
    const first = await callTool(client, 'versions', { word: 'x' }, { version: 1, idempotencyKey: 'v' })
    expect(first.structuredContent.stdout).toBe('one\n')
    const again = await callTool(client, 'versions', { word: 'x' }, { version: 1, idempotencyKey: 'v' })
    expect(again.structuredContent.executionId).toBe(first.structuredContent.executionId)
    expect((await callTool(client, 'versions', { word: 'x' })).structuredContent.stdout).toBe('said x\n')
    const other = await callTool(client, 'versions', { word: 'y' }, { version: 1, idempotencyKey: 'v' })
    expect(other.structuredContent.error.code).toBe('KEY_REUSED')
  })
})
