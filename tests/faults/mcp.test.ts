import { readFileSync } from 'node:fs'
import { request as send } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeKey } from '../support/keys.ts'
import { registerScript } from '../support/registered-tools.ts'
import { ask, startServer, type TestServer } from '../support/start-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ words: ['coreutils'] })
  await registerScript(server, 'marked_word', { script: 'echo "$1"' })
})
afterAll(() => server?.stop())

const version = 'io.modelcontextprotocol/protocolVersion'
const _meta = {
  [version]: '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const call = { name: 'call_tool', arguments: { name: 'marked_word', arguments: { word: 'hi' } } }
const modern = (method: string, params: object = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params: { ...params, _meta },
})
const legacy = (method: string, params: object = {}, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })
const named = (method: string, name?: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name === undefined ? {} : { 'mcp-name': name }),
})
const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  ask(`${server.url}/mcp`, 'POST', {
    key: server.key,
    headers: { accept: 'application/json, text/event-stream', ...headers },
    ...(typeof body === 'string' ? { raw: body } : { body }),
  })
const runs = async () => (await server.request('GET', '/executions?tool=marked_word&limit=100')).body.items.length

/** A request with a Host of its own, which fetch does not send. */
function postAs(host: string, body: unknown): Promise<number | undefined> {
  const { hostname, port } = new URL(server.url)
  const headers = { host, authorization: `Bearer ${server.key}`, 'content-type': 'application/json', accept: '*/*' }
  return new Promise((resolve, reject) => {
    const request = send({ hostname, port, path: '/mcp', method: 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    request.on('error', reject)
    request.end(JSON.stringify(body))
  })
}

describe('MCP over HTTP, on both wires', () => {
  it('40: a request of another site or for another host is refused, and no tool runs', async () => {
    const before = await runs()
    for (const [body, headers] of [
      [modern('tools/call', call), named('tools/call', 'call_tool')],
      [legacy('tools/call', call), {}],
    ] as const) {
      for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1.evil.example'])
        expect((await post(body, { ...headers, origin })).status, origin).toBe(403)
      expect(await postAs('evil.example', body)).toBe(403)
    }
    expect(await runs()).toBe(before)
  })

  it('41: headers that differ from the body are refused with -32020, and no tool runs', async () => {
    const before = await runs()
    const body = modern('tools/call', call)
    const refused = { status: 400, body: { error: { code: -32020 } } }
    const encoded = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`
    for (const headers of [
      named('tools/list', 'call_tool'),
      named('TOOLS/CALL', 'call_tool'),
      named('tools/call', 'search_tools'),
      named('tools/call', encoded('search_tools')),
      named('tools/call', '=?base64?%%%?='),
      named('tools/call'),
      { ...named('tools/call', 'call_tool'), 'mcp-protocol-version': '2025-11-25' },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-name': 'call_tool' },
    ])
      expect(await post(body, headers), JSON.stringify(headers)).toMatchObject(refused)
    expect(await runs()).toBe(before)
    const { 'mcp-method': method, ...rest } = named('tools/call', encoded('call_tool'))
    const accepted = await post(body, { ...rest, 'MCP-METHOD': method })
    expect(accepted).toMatchObject({ status: 200, body: { result: { structuredContent: { stdout: 'hi\n' } } } })
  })

  it('42: an unknown method, missing metadata and an unknown version get their codes', async () => {
    expect(await post(modern('tools/unknown'), named('tools/unknown'))).toMatchObject({
      status: 404,
      body: { error: { code: -32601 } },
    })
    expect((await post(legacy('tools/unknown'))).body.error.code).toBe(-32601)
    const { [version]: _version, ...rest } = _meta
    for (const params of [{ _meta: rest }, { _meta: { ..._meta, 'io.modelcontextprotocol/clientCapabilities': 7 } }])
      expect(await post({ ...modern('tools/list'), params }, named('tools/list'))).toMatchObject({
        status: 400,
        body: { error: { code: -32602 } },
      })
    const old = { ...modern('tools/list'), params: { _meta: { ..._meta, [version]: '1999-01-01' } } }
    expect(await post(old, { ...named('tools/list'), 'mcp-protocol-version': '1999-01-01' })).toMatchObject({
      status: 400,
      body: { error: { code: -32022, data: { supported: expect.arrayContaining(['2026-07-28']) } } },
    })
    expect((await post(legacy('tools/list'), { 'mcp-protocol-version': '1999-01-01' })).status).toBe(400)
  })

  it('43: input that is no message, and invalid ids, get an error; the same id in flight twice gets two responses', async () => {
    for (const body of ['{"jsonrpc": ', '', '7', '"text"', 'null', '{}'])
      expect((await post(body)).status, body).toBeGreaterThanOrEqual(400)
    expect((await post('[]', named('tools/list'))).status).toBe(400)
    expect((await post([modern('tools/list'), modern('tools/list')], named('tools/list'))).status).toBe(400)
    for (const id of [null, {}, [1], 1.5, true])
      for (const response of [
        await post(modern('tools/list', {}, id), named('tools/list')),
        await post(legacy('tools/list', {}, id)),
      ])
        expect(response.body?.result, JSON.stringify(id)).toBeUndefined()
    const same = modern('tools/call', call, 'same')
    const both = await Promise.all([1, 2].map(() => post(same, named('tools/call', 'call_tool'))))
    for (const { body } of both)
      expect(body).toMatchObject({ id: 'same', result: { structuredContent: { stdout: 'hi\n' } } })
  })

  it('44: two clients with the same ids at once each get only their own results', async () => {
    const read = async (client: string, id: number) => {
      const uri = `tooldex://results/${client}-${id}`
      const isModern = id % 2 === 0
      const body = isModern ? modern('resources/read', { uri }, id) : legacy('resources/read', { uri }, id)
      const response = await post(body, isModern ? named('resources/read', uri) : {})
      return { id: response.body.id, own: JSON.stringify(response.body.error).includes(uri) }
    }
    for (let start = 0; start < 1000; start += 50) {
      const ids = Array.from({ length: 50 }, (_, index) => start + index)
      const results = await Promise.all(['a', 'b'].map((client) => Promise.all(ids.map((id) => read(client, id)))))
      for (const result of results) expect(result).toEqual(ids.map((id) => ({ id, own: true })))
    }
  })

  it('49: clients that do not read cost bounded memory, and others are served', async () => {
    await registerScript(server, 'many_lines', { script: 'seq 1 400000' })
    const large = { name: 'call_tool', arguments: { name: 'many_lines', arguments: { word: 'x' } } }
    const { body } = await post(legacy('tools/call', large))
    const { uri } = body.result.content.find(({ type }: { type: string }) => type === 'resource_link')
    const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1])
    const before = memory()
    const message = JSON.stringify(legacy('resources/read', { uri }))
    const { port } = new URL(server.url)
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${server.key}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${message.length}\r\n\r\n`
    for (let count = 0; count < 30; count++) {
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(head + message))
      socket.pause().on('error', () => {})
      onTestFinished(() => void socket.destroy())
    }
    for (let count = 0; count < 20; count++) expect((await post(legacy('tools/list'))).status).toBe(200)
    expect(memory() - before).toBeLessThan(700_000)
  })

  it('53: at most a thousand streams are open, fifty of one caller; the next is refused, and requests are served', async () => {
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    // A response that nobody references is garbage-collected, and its stream is closed.
    const opened: Response[] = []
    const begin = async (name: string) => {
      const key = await makeKey(server, name, ['read'])
      const headers = { authorization: `Bearer ${key}`, accept: 'application/json, text/event-stream' }
      const begun = await ask(`${server.url}/mcp`, 'POST', { key, headers, body: legacy('initialize', initialize) })
      const session = String(begun.headers.get('mcp-session-id'))
      return async () => {
        const named = { ...headers, accept: 'text/event-stream', 'mcp-session-id': session }
        const response = await fetch(`${server.url}/mcp`, { headers: named, signal: stop.signal })
        opened.push(response)
        return response.status
      }
    }
    for (let count = 0; count < 20; count++) {
      const open = await begin(`listener ${count}`)
      expect(new Set(await Promise.all(Array.from({ length: 50 }, open)))).toEqual(new Set([200]))
      expect(await open()).toBe(429)
    }
    expect(await (await begin('one more listener'))()).toBe(429)
    expect((await post(modern('tools/list'), named('tools/list'))).status).toBe(200)
  })
})
