import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readAgentCard } from '../src/definitions/index.ts'
import { connect as connectStdio } from './support/connect.ts'
import { eventually, makeKey } from './support/keys.ts'
import { registerScript } from './support/registered-tools.ts'
import { expectProblem } from './support/rest.ts'
import { ask, startServer, type TestServer } from './support/start-server.ts'

let server: TestServer
let restricted = ''
const outside = 'outside_words'
const ids: Record<string, string> = {}

beforeAll(async () => {
  server = await startServer({ limitedBecause: 'the scripts of its tools are not in a sandbox', words: ['coreutils'] })
  const more = { namespace: 'words', tags: ['Shared Words'] }
  ids.inside = (await registerScript(server, 'inside_words', { script: 'echo "in $1"', more })).id
  ids.outside = (await registerScript(server, outside, { script: 'echo "out $1"', more: { tags: ['other'] } })).id
  const policy = { default: 'enabled', tools: { inside_words: { args: { count: { max: 3 } } } } }
  // The catalog has the new tools a moment later.
  const stored = await eventually(
    () => put('narrow', { filter: { tags: ['shared words'] }, policy }),
    ({ body }) => body.warnings === undefined,
  )
  expect(stored.body).not.toHaveProperty('warnings')
  const made = await server.request('POST', '/keys', {
    body: { name: 'restricted', scopes: ['call'], toolsets: ['narrow'] },
  })
  restricted = made.body.secret
  await server.request('POST', `/tools/${outside}/execute`, { body: { input: { word: 'past' }, wait: true } })
})
afterAll(() => server?.stop())

const put = (name: string, body: object, headers = {}) => server.request('PUT', `/toolsets/${name}`, { body, headers })

/** The official client at the endpoint of a toolset. */
async function connect(toolset: string, key = server.key): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp${toolset}`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  })
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}
const listed = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)
const call = (client: Client, name: string, args: object = { word: 'x' }, more: object = {}) =>
  client.callTool({ name: 'call_tool', arguments: { name, arguments: args, ...more } })
const textOf = (result: unknown) => JSON.stringify(result)

describe('the endpoint of a toolset', () => {
  it('finds, describes, lists and calls its own tools only', async () => {
    const client = await connect('/narrow')
    expect(await listed(client)).toEqual(['search_tools', 'describe_tool', 'call_tool'])
    const found = await client.callTool({ name: 'search_tools', arguments: { query: 'words' } })
    expect(textOf(found)).toContain('inside_words')
    expect(textOf(found)).not.toContain(outside)
    expect(textOf(await call(client, 'inside_words'))).toContain('in x')
    const overview = textOf(await client.callTool({ name: 'search_tools', arguments: {} }))
    expect(overview).not.toContain('coreutils')
  })

  it('has an agent card of its tools, for its callers; the card without a key shows no tool', async () => {
    const path = '/.well-known/agent-card.json'
    const card = async (at: string, key?: string) => ask(`${server.url}${at}`, 'GET', key === undefined ? {} : { key })
    const { body: open } = await card(path)
    expect(open).toMatchObject({
      skills: [],
      supportedInterfaces: [{ url: `${server.url}/mcp`, protocolBinding: 'MCP' }],
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    })
    const { body: whole } = await card(path, server.key)
    const idsOf = ({ skills }: { skills: { id: string }[] }) => skills.map(({ id }) => id)
    expect(idsOf(whole)).toEqual(expect.arrayContaining(['words:inside_words', outside, 'coreutils:coreutils_echo']))
    for (const { body } of [await card(`/mcp/narrow${path}`, server.key), await card(path, restricted)]) {
      expect(idsOf(body)).toEqual(['words:inside_words'])
      expect(readAgentCard(body).tools).toMatchObject([
        { tags: ['shared-words'], inputSchema: { required: ['message'] } },
      ])
      expect(body).toMatchObject({ name: 'narrow', supportedInterfaces: [{ url: `${server.url}/mcp/narrow` }] })
    }
    expectProblem(await card(`/mcp/narrow${path}`), 401, 'UNAUTHORIZED')
    expectProblem(await card(path, 'tdx_wrong'), 401, 'UNAUTHORIZED')
    expectProblem(await card(`/mcp/none${path}`, server.key), 404, 'NOT_FOUND')
  })

  it('adds its policy to those of the caller', async () => {
    const client = await connect('/narrow')
    expect(textOf(await call(client, 'inside_words', { word: 'x', count: 4 }))).toContain('POLICY_REFUSED')
    expect(textOf(await call(await connect(''), 'inside_words', { word: 'x', count: 4 }))).toContain('in x')
  })

  it('does not reveal another tool by any name, id, alias, version, case, batch, dry run or argument', async () => {
    const client = await connect('/narrow')
    const { id = '' } = (await server.request('GET', `/executions?tool=${outside}&limit=1`)).body.items[0]
    const spellings = [
      ...[outside, ids.outside, ids.outside?.toUpperCase(), `registry:${outside}`, `${outside}@1`],
      ...[`registry:${outside}:1`, `words:${outside}`, `registry_${outside}`, outside.toUpperCase(), ` ${outside}`],
      ...['coreutils_echo', 'coreutils:coreutils_echo', `${outside}\u200b`, `inside_words,${outside}`, `../${outside}`],
    ] as string[]
    for (const name of spellings) {
      for (const more of [{}, { dryRun: true }, { version: 1 }, { idempotencyKey: 'k' }]) {
        const result = await call(client, name, { word: 'x', message: 'x' }, more)
        expect(result.isError, name).toBe(true)
        expect(textOf(result), name).toMatch(/TOOL_NOT_FOUND|INPUT_INVALID/)
        expect(textOf(result), name).not.toContain('out x')
      }
      const described = await client.callTool({ name: 'describe_tool', arguments: { ids: ['inside_words', name] } })
      expect(textOf(described), name).not.toContain(`Says what ${outside}`)
      await expect(client.callTool({ name, arguments: { word: 'x' } }), name).rejects.toThrow(/Unknown tool/)
    }
    const builtin = await call(client, 'tooldex:read_execution', { id })
    expect(textOf(builtin)).toContain('NOT_FOUND')
    const searched = await client.callTool({
      name: 'search_tools',
      arguments: { query: outside, explainTool: outside, facets: true, status: [] },
    })
    expect(textOf(searched)).not.toContain('other')
    expect(textOf(await call(client, 'outside_word'))).not.toContain(outside)
  })

  it('reads the results of calls through itself only', async () => {
    await registerScript(server, 'large_inside', { script: 'seq 1 40000', more: { tags: ['shared words'] } })
    const [inside, other] = [await connect('/narrow'), await connect('')]
    const handleOf = (result: unknown) => /tooldex:\/\/results\/([\w-]{36})/.exec(textOf(result))?.[1] ?? ''
    const run = (client: Client) => call(client, 'large_inside')
    const made = await eventually(
      () => run(inside),
      (result) => result.isError !== true,
    )
    const [own, foreign] = [handleOf(made), handleOf(await run(other))]
    expect(own).not.toBe('')
    expect((await inside.readResource({ uri: `tooldex://results/${own}` })).contents).toHaveLength(1)
    await expect(inside.readResource({ uri: `tooldex://results/${foreign}` })).rejects.toThrow(/Unknown handle/)
    expect(textOf(await call(inside, 'tooldex:read_result', { handle: foreign }))).toContain('NOT_FOUND')
    expect((await other.readResource({ uri: `tooldex://results/${foreign}` })).contents).toHaveLength(1)
  })

  it('lists tools in the mode of the toolset, and announces changes to open subscriptions', async () => {
    await put('moded', { filter: { names: ['inside_words', 'words:inside_words'] }, mode: 'classic' })
    const client = await connect('/moded')
    expect(await listed(client)).toEqual(['inside_words'])
    expect(textOf(await client.callTool({ name: 'inside_words', arguments: { word: 'y' } }))).toContain('in y')
    let changes = 0
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      changes++
    })
    const subscription = await client.listen({ toolsListChanged: true })
    onTestFinished(() => subscription.close())
    await put('moded', { filter: { names: [outside] }, mode: 'pinned', pinned: [outside] })
    await expect.poll(() => changes, { timeout: 60_000 }).toBeGreaterThan(0)
    await expect.poll(() => listed(client), { timeout: 60_000 }).toContain(outside)
    expect(await listed(client)).toContain('call_tool')
  })

  it('is not found for an unknown toolset, or for callers that it does not name, with suggestions', async () => {
    const unknown = await ask(`${server.url}/mcp/narow`, 'POST', { key: server.key, body: {} })
    expectProblem(unknown, 404, 'NOT_FOUND')
    expect(unknown.body.detail).toContain("Did you mean 'narrow'?")
    await put('private', { callers: ['restricted'] })
    expectProblem(await ask(`${server.url}/mcp/private`, 'POST', { key: server.key, body: {} }), 404)
    const odd = ['/mcp/narrow/x', '/mcp/NARROW', '/mcp/%6earrow%00', '/mcp/narrow%2f..', '/mcp//narrow']
    for (const path of odd) expectProblem(await ask(`${server.url}${path}`, 'POST', { key: server.key, body: {} }), 404)
  })
})

describe('a key that is restricted to a toolset', () => {
  const as = (method: string, path: string, body?: object) =>
    server.request(method, path, { key: restricted, ...(body === undefined ? {} : { body }) })

  it('sees and calls only its tools on every route', async () => {
    const tellers = [
      ['POST', '/search', { query: outside }],
      ['GET', `/search?query=${outside}`],
      ['POST', '/search', { facets: true, limit: 100, status: [] }],
      ['GET', '/llm/tools?limit=1000'],
      ['GET', '/tools?limit=100'],
      ['GET', '/executions?limit=100'],
      ['GET', '/bundle'],
      ['GET', '/lint'],
      ['GET', '/tags'],
      ['GET', '/sources'],
      ['GET', '/stats'],
      ['GET', '/toolsets'],
      ['GET', '/toolsets/narrow/tools'],
    ] as const
    for (const [method, path, body] of tellers) {
      const answer = await as(method, path, body)
      expect(answer.status, path).toBe(200)
      expect(answer.text, path).not.toMatch(/outside_words|"other"|coreutils/)
    }
    expect((await as('GET', '/stats')).body).toMatchObject({ catalog: { source: { registry: expect.any(Number) } } })
    const hidden = ['GET /tools/NAME', 'GET /tools/NAME/doc', 'GET /tools/NAME/versions', 'GET /llm/tools/NAME']
    for (const route of [...hidden, 'POST /tools/NAME/execute', 'POST /llm/tools/NAME/invoke'])
      for (const name of [outside, ids.outside, `registry:${outside}`, 'coreutils_echo']) {
        const [method = '', path = ''] = route.replace('NAME', encodeURIComponent(String(name))).split(' ')
        expectProblem(await as(method, path, method === 'POST' ? {} : undefined), 404, 'TOOL_NOT_FOUND')
      }
    const run = { input: { word: 'z' }, wait: true }
    expect((await as('POST', '/tools/inside_words/execute', run)).body.outputData).toBe('in z\n')
    const many = { input: { word: 'z', count: 4 }, wait: true }
    expectProblem(await as('POST', '/tools/inside_words/execute', many), 403, 'POLICY_REFUSED')
    expect((await as('GET', '/keys/current')).body).toMatchObject({ name: 'restricted', toolsets: ['narrow'] })
  })

  it('uses its toolset at /mcp as well, and no other toolset by path or header', async () => {
    const client = await connect('', restricted)
    const found = textOf(await client.callTool({ name: 'search_tools', arguments: { query: 'words' } }))
    expect(found).toContain('inside_words')
    expect(found).not.toContain(outside)
    await put('wide', {})
    expectProblem(await ask(`${server.url}/mcp/wide`, 'POST', { key: restricted, body: {} }), 404, 'NOT_FOUND')
    const headers = { 'x-tooldex-toolset': 'wide' }
    expectProblem(await server.request('GET', '/tools', { key: restricted, headers }), 404, 'NOT_FOUND')
  })

  it('has no scope to lift the restriction, and sees nothing when the toolset is deleted', async () => {
    const body = (more: object) => ({ name: 'more', toolsets: ['narrow'], ...more })
    for (const scope of ['write', 'admin'])
      expectProblem(await server.request('POST', '/keys', { body: body({ scopes: [scope] }) }), 422, 'INPUT_INVALID')
    const unknown = await server.request('POST', '/keys', { body: body({ toolsets: ['narow'] }) })
    expectProblem(unknown, 404, 'NOT_FOUND')
    expect(unknown.body.detail).toContain("Did you mean 'narrow'?")
    await put('passing', { filter: { names: ['inside_words'] } })
    const made = await server.request('POST', '/keys', { body: body({ scopes: ['call'], toolsets: ['passing'] }) })
    const { secret: key } = made.body
    const names = async () => (await server.request('GET', '/tools', { key })).body.items.length
    expect(await names()).toBe(1)
    const gone = await server.request('DELETE', '/toolsets/passing')
    expect(gone.body.warnings[0].message).toContain('The key more is restricted to the deleted toolset passing.')
    await expect.poll(names, { timeout: 60_000 }).toBe(0)
    const run = await server.request('POST', '/tools/inside_words/execute', { key, body: { input: { word: 'x' } } })
    expectProblem(run, 404, 'TOOL_NOT_FOUND')
  })
})

describe('toolsets', () => {
  it('are stored with If-Match and audit entries, and report what matches nothing', async () => {
    const made = await put('draft', { filter: { tags: ['shred-words'], names: ['inside_word'] }, pinned: [] })
    expect(made.body.warnings.map(({ message }: { message: string }) => message)).toEqual([
      "There is no tag 'shred-words' now. Did you mean 'shared-words'?",
      "There is no tool 'inside_word' now. Did you mean 'inside_words'?",
      'The filter matches no tool, so the toolset is empty.',
    ])
    const read = await server.request('GET', '/toolsets/draft')
    expect(read.headers.get('etag')).toBe(made.headers.get('etag'))
    const match = { 'if-match': String(read.headers.get('etag')) }
    expect((await put('draft', { filter: { names: ['inside_words'] } }, match)).status).toBe(200)
    expectProblem(await put('draft', {}, match), 412, 'STALE')
    expectProblem(await server.request('DELETE', '/toolsets/draft', { headers: match }), 412, 'STALE')
    expect((await server.request('DELETE', '/toolsets/draft')).status).toBe(200)
    expectProblem(await server.request('GET', '/toolsets/draft'), 404, 'NOT_FOUND')
    const { items } = (await server.request('GET', '/audit?subject=toolset:draft')).body
    expect(items.map(({ action }: { action: string }) => action)).toEqual([
      'toolset.remove',
      'toolset.change',
      'toolset.create',
    ])
  })

  it.each([
    ['a name that is no part of a URL', 'Not A Name', {}],
    ['an unknown field', 'odd', { filters: {} }],
    ['pinned tools in another mode', 'odd', { pinned: ['inside_words'] }],
    ['the mode pinned without tools', 'odd', { mode: 'pinned' }],
    ['an invalid pattern of its policy', 'odd', { policy: { tools: { x: { args: { a: { pattern: '(' } } } } } }],
    ['an unknown state of readiness', 'odd', { filter: { readiness: ['sleepy'] } }],
  ])('are rejected with %s', async (_, name, body) => {
    expectProblem(await put(encodeURIComponent(name), body), 422, 'INPUT_INVALID')
  })

  it('show their rules to writers only', async () => {
    const reader = await makeKey(server, 'reader', ['read'])
    const seen = (await server.request('GET', '/toolsets/narrow', { key: reader })).body
    expect(seen).toEqual({ name: 'narrow', mode: 'progressive', codeMode: false })
    const { body } = await server.request('GET', '/toolsets/narrow')
    expect(body).toMatchObject({ filter: { tags: ['shared words'] }, policy: { default: 'enabled' } })
    expect((await server.request('GET', '/bundle', { key: reader })).body.toolsets).toEqual([])
    expect((await server.request('GET', '/bundle')).body.toolsets).toContainEqual(body)
    expect((await server.request('GET', '/toolsets', { key: reader })).text).not.toContain('private')
  })

  it('restrict a stdio server and commands, in the mode of the toolset', async () => {
    await put('cli', { filter: { names: ['inside_words'] }, mode: 'pinned', pinned: ['inside_words'] })
    const env = { TOOLDEX_API_KEY: server.key, TOOLDEX_HOME: server.home }
    const { client } = await connectStdio(['--server', server.url, '--toolset', 'cli'], { env })
    expect(await listed(client)).toEqual(['search_tools', 'describe_tool', 'call_tool', 'inside_words'])
    expect(textOf(await call(client, 'inside_words'))).toContain('in x')
    expect(textOf(await call(client, outside))).toContain('TOOL_NOT_FOUND')
    await expect(connectStdio(['--server', server.url, '--toolset', 'clii'], { env })).rejects.toThrow()
  })
})
