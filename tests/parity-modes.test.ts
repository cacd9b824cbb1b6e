import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { connect as connectStdio } from './support/connect.ts'
import { startServer, type TestServer } from './support/start-server.ts'

type Answer = Record<string, unknown>

let server: TestServer
beforeAll(async () => {
  server = await startServer({ words: ['coreutils'], limitedBecause: 'calls over stdio have no sandbox' })
  const policy = { default: 'enabled', tools: { coreutils_echo: { args: { message: { pattern: '[a-z ]+' } } } } }
  const body = { filter: { names: ['coreutils_echo', 'coreutils_wc'] }, policy }
  expect((await server.request('PUT', '/toolsets/narrow', { body })).status).toBe(200)
})
afterAll(() => server?.stop())

async function connectHttp(path: string): Promise<Client> {
  const requestInit = { headers: { authorization: `Bearer ${server.key}` } }
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url + path), { requestInit }))
  onTestFinished(() => client.close())
  return client
}

// Facts of one run, of its record and of its place.
const own = new Set(['durationMs', 'executionId', 'isolation', 'cwd', 'folders', 'network', 'spentTokens', 'status'])
const comparable = (answer: unknown): Answer =>
  JSON.parse(JSON.stringify(answer, (key, value) => (own.has(key) ? undefined : value)))

/** The result of a call with what a client sees of it, or the error of the protocol. */
async function call(client: Client, name: string, args: object): Promise<Answer> {
  try {
    const { structuredContent, content, isError } = await client.callTool({ name, arguments: { ...args } })
    return comparable({ structuredContent, content, isError })
  } catch (error) {
    const { code, message } = error as { code: unknown; message: string }
    return { code, message }
  }
}

const toolCalls = [
  ['coreutils_echo', { message: 'same' }],
  ['coreutils_echo', { message: 7 }],
  ['coreutils_echo', {}],
  ['coreutils_echo', { mesage: 'same' }],
  ['coreutils_wc', { files: ['/no/such/file'] }],
  ['coreutils_ehco', { message: 'same' }],
] as const
const throughMeta = toolCalls.map(([name, args]) => ['call_tool', { name, arguments: args }] as const)

describe('stdio and HTTP list the same and answer alike', () => {
  it.each([
    ['progressive', [], '', throughMeta],
    ['pinned', ['--pin', 'coreutils_echo'], '?pin=coreutils_echo', [...toolCalls.slice(0, 4), ...throughMeta]],
    ['classic', ['--classic'], '?mode=classic', [...toolCalls, ...throughMeta.slice(0, 1)]],
  ] as const)('in %s mode, with good and bad input', async (_mode, words, query, calls) => {
    const [{ client: stdio }, http] = await Promise.all([
      connectStdio(['coreutils', '--no-registry', ...words]),
      connectHttp(`/mcp${query}`),
    ])
    expect((await http.listTools()).tools).toEqual((await stdio.listTools()).tools)
    for (const [name, args] of calls)
      expect(await call(http, name, args), JSON.stringify([name, args])).toEqual(await call(stdio, name, args))
  })
})

describe('a toolset', () => {
  it('has the same tools, results and errors over stdio, HTTP and REST', async () => {
    const env = { TOOLDEX_API_KEY: server.key }
    const [{ client: stdio }, http] = await Promise.all([
      connectStdio(['--server', server.url, '--toolset', 'narrow'], { env }),
      connectHttp('/mcp/narrow'),
    ])
    const headers = { 'x-tooldex-toolset': 'narrow' }
    const rest = async (path: string, body: object) => (await server.request('POST', path, { headers, body })).body
    expect(await http.listTools()).toMatchObject({ tools: (await stdio.listTools()).tools })
    const outside = ['call_tool', { name: 'coreutils_date', arguments: {} }] as const
    const refused = ['call_tool', { name: 'coreutils_echo', arguments: { message: 'NO' } }] as const
    for (const [name, args] of [...throughMeta, outside, refused]) {
      const seen = await call(http, name, args)
      expect(await call(stdio, name, args), JSON.stringify(args)).toEqual(seen)
      const answer = await rest(`/tools/${args.name}/execute`, { input: args.arguments, wait: true })
      const { structuredContent: found = {} } = seen as { structuredContent?: Answer }
      const { code, detail: message, outputData } = answer
      if (found.error === undefined) expect(outputData).toBe(found.stdout)
      else expect({ code, message }).toMatchObject(pick(found.error as Answer))
    }
    const query = { query: 'print a text', limit: 2, level: 'summary' }
    const searched = await call(http, 'search_tools', query)
    expect(await call(stdio, 'search_tools', query)).toEqual(searched)
    expect(comparable(await rest('/search', query))).toEqual(searched.structuredContent)
    const wanted = { ids: ['coreutils_date'] }
    const described = await call(http, 'describe_tool', wanted)
    expect(await call(stdio, 'describe_tool', wanted)).toEqual(described)
    expect(JSON.stringify(described)).toContain('TOOL_NOT_FOUND')
  })
})

const pick = ({ code, message }: Answer) => ({ code, message })
