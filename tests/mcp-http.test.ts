import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Revision, revisions } from './support/connect.ts'
import { eventually, makeKey } from './support/keys.ts'
import { registerScript } from './support/registered-tools.ts'
import { ask, startServer, type TestServer } from './support/start-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ words: ['coreutils'] })
  await registerScript(server, 'repeat_word', { script: 'echo "$1 $2"' })
})
afterAll(() => server?.stop())

interface HttpOptions {
  readonly revision?: Revision
  readonly key?: string
  /** The query of the URL. */
  readonly query?: string
}

/** The official client, connected to the endpoint of the server. */
async function connect({ revision = '2026-07-28', key = server.key, query = '' }: HttpOptions = {}): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp${query}`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  })
  const negotiation = revision === '2026-07-28' ? { versionNegotiation: { mode: 'auto' as const } } : {}
  const client = new Client({ name: 'test', version: '1.0.0' }, negotiation)
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}

const callTool = (client: Client, name: string, args: Record<string, unknown> = { word: 'x' }, options = {}) =>
  client.callTool({ name: 'call_tool', arguments: { name, arguments: args } }, options)

/** A request without the official client. */
const post = (body: unknown, headers: Record<string, string> = {}, key: string | null = server.key) =>
  ask(`${server.url}/mcp`, 'POST', {
    key: key ?? undefined,
    headers: { accept: 'application/json, text/event-stream', ...headers },
    ...(typeof body === 'string' ? { raw: body } : { body }),
  })

/** A script that reports its start in a file and then waits for another file. */
async function registerGated(name: string) {
  const [begun, goOn] = [join(server.scripts, `${name}-begun`), join(server.scripts, `${name}-go-on`)]
  await registerScript(server, name, {
    script: `echo first; : > '${begun}'; while [ ! -e '${goOn}' ]; do sleep 0.1; done; echo second`,
  })
  return { begun: () => expect.poll(() => existsSync(begun)).toBe(true), goOn: () => writeFileSync(goOn, '') }
}
const newest = async (tool: string) => (await server.request('GET', `/executions?tool=${tool}&limit=1`)).body.items[0]
const statusOf = async (tool: string) => (await newest(tool))?.status

describe.each(revisions)('the MCP endpoint at revision %s', (revision) => {
  it('lists three tools, finds a registered tool, describes and calls it, and records the run', async () => {
    const client = await connect({ revision })
    expect(client.getNegotiatedProtocolVersion()).toBe(revision)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'search_tools',
      'describe_tool',
      'call_tool',
    ])
    const search = () => client.callTool({ name: 'search_tools', arguments: { query: 'repeat_word', limit: 1 } })
    const found = await eventually(search, (result) => JSON.stringify(result).includes('repeat_word'))
    expect(JSON.stringify(found.structuredContent)).toContain('"repeat_word')
    const described = await client.callTool({ name: 'describe_tool', arguments: { ids: ['repeat_word'] } })
    expect(JSON.stringify(described.structuredContent)).toContain('"word"')
    const called = await callTool(client, 'repeat_word', { word: 'hello', count: 2 })
    expect(called.isError, JSON.stringify(called)).toBeFalsy()
    expect(called.structuredContent).toMatchObject({ stdout: 'hello 2\n', executionId: expect.any(String) })
    expect(await newest('repeat_word')).toMatchObject({ status: 'SUCCESS', callerId: 'key:admin' })
  })

  it('lists pinned tools beside the three, or every tool in classic mode, under the policies of the caller', async () => {
    const name = `guarded_${revision.replaceAll('-', '')}`
    await registerScript(server, name, { script: 'echo x' })
    const pinned = await connect({ revision, query: `?pin=coreutils_echo&pin=${name}&pin=later` })
    const names = async (client: Client) => (await client.listTools()).tools.map((tool) => tool.name)
    await expect
      .poll(() => names(pinned))
      .toEqual(['search_tools', 'describe_tool', 'call_tool', 'coreutils_echo', name])
    const echoed = await pinned.callTool({ name: 'coreutils_echo', arguments: { message: 'hi' } })
    expect(echoed.structuredContent).toMatchObject({ stdout: 'hi\n' })
    const classic = await connect({ revision, query: '?mode=classic' })
    const all = await names(classic)
    expect(all).toEqual(expect.arrayContaining(['coreutils_echo', name]))
    expect(all).not.toContain('call_tool')
    expect(await names(classic)).toEqual(all)
    const key = await makeKey(server, `${name} only`, ['read', 'call'])
    const policy = { default: 'disabled', tools: { [name]: {} }, callers: [`${name} only`] }
    await server.request('PUT', `/policies/${name}`, { body: policy })
    onTestFinished(() => void server.request('DELETE', `/policies/${name}`))
    const limited = await connect({ revision, key, query: '?mode=classic' })
    await expect.poll(() => names(limited)).toEqual([name])
    await expect(limited.callTool({ name: 'coreutils_echo', arguments: { message: 'hi' } })).rejects.toMatchObject({
      code: -32602,
    })
  })

  it('calls the tools of configs, and returns errors as tool errors', async () => {
    const client = await connect({ revision })
    const echoed = await callTool(client, 'coreutils_echo', { message: 'hi' })
    expect(echoed.structuredContent).toMatchObject({ stdout: 'hi\n' })
    const wrong = await callTool(client, 'coreutils_echo', { massage: 'hi' })
    expect(wrong).toMatchObject({ isError: true, structuredContent: { error: { code: 'INPUT_INVALID' } } })
    await expect(client.callTool({ name: 'unknown', arguments: {} })).rejects.toMatchObject({ code: -32602 })
  })

  it('gives each of many clients with the same request ids its own result', async () => {
    const clients = await Promise.all(Array.from({ length: 12 }, () => connect({ revision })))
    const results = await Promise.all(
      clients.map((client, index) => callTool(client, 'repeat_word', { word: `client ${index}`, count: index })),
    )
    const printed = results.map(({ structuredContent }) => (structuredContent as { stdout: string }).stdout)
    expect(printed).toEqual(clients.map((_, index) => `client ${index} ${index}\n`))
  })

  it('checks the scope of the key for the inner operation', async () => {
    const reader = await connect({ revision, key: await makeKey(server, `reader ${revision}`, ['read']) })
    const found = await reader.callTool({ name: 'search_tools', arguments: { query: 'repeat_word' } })
    expect(found.isError).toBeFalsy()
    const refused = await callTool(reader, 'repeat_word', { word: 'x' })
    expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: 'FORBIDDEN' } } })
  })

  it('reports progress of a call that asks for it', async () => {
    const name = `progress_${revision.replaceAll('-', '')}`
    const gate = await registerGated(name)
    const reports: number[] = []
    const onprogress = ({ progress }: { progress: number }) => {
      reports.push(progress)
      gate.goOn()
    }
    const result = await callTool(await connect({ revision }), name, undefined, { onprogress, timeout: 600_000 })
    expect(result.structuredContent).toMatchObject({ stdout: 'first\nsecond\n' })
    expect(reports).toEqual([...new Set(reports)].sort((one, other) => one - other))
  })

  it('cancels the run when the client cancels the call', async () => {
    const name = `cancelled_${revision.replaceAll('-', '')}`
    const gate = await registerGated(name)
    const abort = new AbortController()
    const call = callTool(await connect({ revision }), name, undefined, { signal: abort.signal, timeout: 600_000 })
    await Promise.all([gate.begun().then(() => abort.abort()), expect(call).rejects.toThrow()])
    await expect.poll(() => statusOf(name)).toBe('CANCELLED')
  })

  it('116: ends a running call when its key is revoked', async () => {
    const name = `revoked_${revision.replaceAll('-', '')}`
    const gate = await registerGated(name)
    const { body: key } = await server.request('POST', '/keys', { body: { name, scopes: ['call'] } })
    const call = callTool(await connect({ revision, key: key.secret }), name, undefined, { timeout: 600_000 })
    await gate.begun()
    const [outcome] = await Promise.allSettled([call, server.request('DELETE', `/keys/${key.id}`)])
    expect(outcome.status).toBe('rejected')
    await expect.poll(() => statusOf(name)).toBe('CANCELLED')
  })

  it('reads a large result as a resource', async () => {
    const client = await connect({ revision })
    const name = `large_${revision.replaceAll('-', '')}`
    await registerScript(server, name, { script: 'seq 1 60000' })
    const { content } = await callTool(client, name)
    const link = content.find(({ type }) => type === 'resource_link') as { uri: string }
    const { contents } = await client.readResource({ uri: link.uri })
    expect((contents[0] as { text: string }).text).toContain('\n59999\n60000\n')
  })
})

describe('requests to the MCP endpoint', () => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const modern = (method: string, params: object = {}) => ({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: { ...params, _meta },
  })
  const named = (method: string) => ({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method })

  it('need a valid key', async () => {
    for (const key of ['', 'a-wrong-key-0123456789']) {
      const { status, headers } = await post(list, key === '' ? {} : { authorization: `Bearer ${key}` }, null)
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  it('of another site are refused', async () => {
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { origin: 'file://' }])
      expect((await post(list, headers)).status).toBe(403)
  })

  it('with a body that is no message get a JSON-RPC error', async () => {
    expect(await post('{"jsonrpc": ')).toMatchObject({ status: 400, body: { id: null, error: { code: -32700 } } })
    expect((await post(list, { 'content-type': 'text/plain' })).status).toBe(415)
    const large = await post({ ...list, params: { filler: 'x'.repeat(5 * 1024 * 1024) } })
    expect(large).toMatchObject({ status: 413, body: { error: { code: -32600 } } })
    expect((await post({ hello: 'world' })).status).toBe(400)
  })

  it('with an unknown mode or parameter are refused with the valid ones', async () => {
    for (const query of ['?mode=all', '?toolset=x', '?mode=classic&pin=x', `?${'pin=x&'.repeat(101)}`]) {
      const { status, body } = await ask(`${server.url}/mcp${query}`, 'POST', { key: server.key, body: list })
      expect({ status, body }).toMatchObject({ status: 422, body: { code: 'INPUT_INVALID' } })
      expect(JSON.stringify(body)).toContain('mode=classic')
    }
  })

  it('with parameters of the wrong shape get an error that names them, never an internal error', async () => {
    for (const [method, params, field] of [
      ['resources/read', {}, 'uri'],
      ['tools/list', { cursor: {} }, 'cursor'],
      ['tools/call', { name: 'search_tools', arguments: 7 }, 'arguments'],
    ] as const) {
      const headers = { ...named(method), ...('name' in params ? { 'mcp-name': params.name } : {}) }
      const answers = [await post({ ...list, method, params }), await post(modern(method, params), headers)]
      for (const { body } of answers)
        expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining(field) })
    }
    const initialize = await post({ ...list, method: 'initialize' })
    expect(initialize.body.error).toMatchObject({ code: -32602, message: expect.stringContaining('protocolVersion') })
  })

  it('with other methods than POST need a session, or are refused', async () => {
    const send = (method: string) =>
      ask(`${server.url}/mcp`, method, { key: server.key, headers: { accept: 'text/event-stream' } })
    expect((await send('GET')).status).toBe(400)
    expect((await send('DELETE')).status).toBe(400)
    expect((await send('PUT')).status).toBe(405)
  })

  it('of revision 2026-07-28 are checked against their headers', async () => {
    expect((await post(modern('tools/list'), named('tools/list'))).body).toMatchObject({
      result: { resultType: 'complete', ttlMs: expect.any(Number), cacheScope: 'private' },
    })
    expect(await post(modern('tools/list'), named('tools/call'))).toMatchObject({
      status: 400,
      body: { error: { code: -32020 } },
    })
    expect(await post(modern('tools/unknown'), named('tools/unknown'))).toMatchObject({
      status: 404,
      body: { error: { code: -32601 } },
    })
    const future = { ..._meta, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }
    const unknown = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: future } }
    expect(await post(unknown, { 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/list' })).toMatchObject({
      status: 400,
      body: { error: { code: -32022, data: { supported: expect.arrayContaining(['2026-07-28']) } } },
    })
  })

  it('of a session end with it, but not by a key whose name is the beginning of another', async () => {
    const gate = await registerGated('kept')
    const [short, long] = [await makeKey(server, 'ci', ['call']), await makeKey(server, 'ci bot', ['call'])]
    const call = { name: 'call_tool', arguments: { name: 'kept', arguments: { word: 'x' } } }
    const session = (id: string) => ({ 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': id })
    const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const begun = await post({ ...list, method: 'initialize', params: client }, {}, long)
    const own = String(begun.headers.get('mcp-session-id'))
    const running = post({ ...list, method: 'tools/call', params: call }, session(own), long)
    await gate.begun()
    const end = (id: string, key: string) => ask(`${server.url}/mcp`, 'DELETE', { key, headers: session(id) })
    for (const id of ['bot', `bot ${own}`, own]) expect((await end(id, short)).status).toBe(404)
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    for (const id of [`bot ${own}`, own]) expect((await post(cancelled, session(id), short)).status).toBe(404)
    expect(await statusOf('kept')).toBe('RUNNING')
    expect((await end(own, long)).status).toBe(204)
    expect((await running).status).toBe(202)
    await expect.poll(() => statusOf('kept')).toBe('CANCELLED')
  })

  it('for a stream of changes are bounded for each caller, and end with its key', async () => {
    const { body: key } = await server.request('POST', '/keys', { body: { name: 'listener', scopes: ['read'] } })
    const method = 'subscriptions/listen'
    const body = JSON.stringify(modern(method, { notifications: { toolsListChanged: true } }))
    const listen = (secret: string, stop?: AbortSignal) =>
      fetch(`${server.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...named(method),
        },
        body,
        ...(stop && { signal: stop }),
      })
    const first = new AbortController()
    const streams = [await listen(key.secret, first.signal)]
    while (streams.length < 50) streams.push(await listen(key.secret))
    expect(streams.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect((await listen(key.secret)).status).toBe(429)
    const others = await listen(server.key)
    expect(others.status).toBe(200)
    await others.body?.cancel()
    first.abort()
    await expect.poll(async () => (await listen(key.secret)).status).toBe(200)
    await server.request('DELETE', `/keys/${key.id}`)
    for (const stream of streams.slice(1)) await stream.text()
    expect((await listen(key.secret)).status).toBe(401)
  })

  it('discover the server', async () => {
    const { body } = await post(modern('server/discover'), named('server/discover'))
    expect(body.result).toMatchObject({ capabilities: { tools: {} }, instructions: expect.any(String) })
  })

  it('without progress get plain JSON, in both revisions', async () => {
    for (const [message, headers] of [
      [list, { 'mcp-protocol-version': '2025-11-25' }],
      [modern('tools/list'), named('tools/list')],
    ] as const)
      expect((await post(message, headers)).headers.get('content-type')).toMatch(/^application\/json/)
  })
})
