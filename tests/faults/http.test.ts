import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, createServer as createRawServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RunControls, RunnableTool } from '../../src/contract/executor.ts'
import { createHttpExecutor } from '../../src/executors/http/http-executor.ts'
import { redirectTarget } from '../../src/executors/network/redirect.ts'

const executor = createHttpExecutor()

const toolOf = (executorConfig: Record<string, unknown>): RunnableTool => ({
  name: 'ask',
  id: null,
  version: null,
  executorType: 'http',
  executorConfig,
  scriptContent: null,
  inputSchema: {},
  outputSchema: {},
  annotations: {},
  constraints: [],
})

const run = (config: Record<string, unknown>, input = {}, timeoutMs = 120_000, controls: RunControls = {}) =>
  executor.prepare({ tool: toolOf({ method: 'GET', allowPrivate: true, ...config }), input, timeoutMs }).run(controls)

async function listen(server: Server | ReturnType<typeof createRawServer>): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that remembers what it was asked and answers JSON. */
async function startEcho(answer: unknown = { ok: true }) {
  const asked: { url: string; headers: IncomingMessage['headers']; method: string; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    asked.push({ url: request.url ?? '', headers: request.headers, method: request.method ?? '', body })
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  return { url: await listen(server), asked }
}

/** A server that says exactly these bytes, and then does as it likes. */
const startRaw = (talk: (socket: Socket) => void): Promise<string> =>
  listen(
    createRawServer((socket) => {
      socket.on('error', () => {})
      onTestFinished(() => void socket.destroy())
      socket.once('data', () => talk(socket))
    }),
  )

describe('fault 138: irregular requests', () => {
  it.each([
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'data:text/plain,x',
    'ftp://127.0.0.1/x',
    'http://user:pass@127.0.0.1/',
  ])('refuses %s', async (url) => {
    await expect(run({ url })).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
  })

  it('refuses a line break in a header, and headers that are not for a tool to set', async () => {
    const { url, asked } = await startEcho()
    await expect(run({ url, headers: { 'x-a': '{a}' } }, { a: 'x\r\nevil: 1' })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
    })
    for (const name of ['Host', 'Content-Length', 'Transfer-Encoding'])
      await expect(run({ url, headers: { [name]: 'x' } })).rejects.toMatchObject({ code: 'INPUT_INVALID' })
    expect(asked).toEqual([])
  })
})

describe('fault 139: answers without measure', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n'

  it('cuts off a body without end at the limit', async () => {
    let sent = 0
    const url = await startRaw((socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n`)
      const more = (): void => {
        while (!socket.destroyed && socket.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`)) sent += 0x10000
        if (!socket.destroyed) socket.once('drain', more)
      }
      more()
    })
    const { status, errorCode } = await run({ url, maxBytes: 1_000_000 })
    expect([status, errorCode]).toEqual(['FAILED', 'OUTPUT_LIMIT'])
    expect(sent).toBeLessThan(200_000_000)
  })

  it('counts what a packed answer becomes', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const url = await startRaw((socket) => {
      socket.write(`${head}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
      socket.end(bomb)
    })
    expect(bomb.length).toBeLessThan(100_000)
    expect((await run({ url, maxBytes: 1_000_000 })).errorCode).toBe('OUTPUT_LIMIT')
  })

  it.each([
    ['one byte a second', `${head}content-length: 1000\r\n\r\n`],
    ['headers that never end', 'HTTP/1.1 200 OK\r\nx-a: '],
    ['nothing at all', ''],
  ])('gives up at the deadline: %s', async (_name, begins) => {
    const url = await startRaw((socket) => {
      socket.write(begins)
      const drip = setInterval(() => socket.write('x'), 300)
      socket.on('close', () => clearInterval(drip))
    })
    expect(await run({ url }, {}, 1000)).toMatchObject({ status: 'TIMEOUT', errorCode: 'EXECUTION_TIMEOUT' })
  })

  it('refuses a head of megabytes', async () => {
    const url = await startRaw((socket) => socket.write(`${head}x-a: ${'x'.repeat(5_000_000)}\r\n\r\n`))
    expect(await run({ url, method: 'POST' })).toMatchObject({ status: 'FAILED', errorCode: 'HTTP_ERROR' })
  })

  it('ends when it is cancelled', async () => {
    const stop = new AbortController()
    const url = await startRaw(() => stop.abort())
    expect(await run({ url }, {}, 120_000, { signal: stop.signal })).toMatchObject({
      status: 'CANCELLED',
      errorCode: 'EXECUTION_CANCELLED',
    })
  })
})

describe('fault 140: secrets', () => {
  const secret = async (reference: string) => `value-of-${reference}`

  it('go where they belong, and into nothing that anybody reads', async () => {
    const { url, asked } = await startEcho()
    const bearer = { type: 'bearer', secret: 'secret:crm' }
    const done = await run({ url: `${url}/x`, auth: bearer }, {}, 120_000, { secret })
    expect(asked[0]?.headers.authorization).toBe('Bearer value-of-secret:crm')
    expect(JSON.stringify(done)).not.toContain('value-of')
    const request = { method: 'GET', url, auth: bearer }
    const plan = await executor.prepare({ tool: toolOf({ ...request, allowPrivate: true }), input: {} }).plan()
    expect(plan).toMatchObject({ request: { headers: { authorization: 'bearer [secret:crm]' } } })
    const gone = await run({ method: 'POST', url: 'http://127.0.0.1:9/x', auth: bearer }, {}, 120_000, { secret })
    expect(gone).toMatchObject({ status: 'FAILED', errorCode: 'HTTP_ERROR' })
    expect(JSON.stringify(gone)).not.toContain('value-of')
  })

  it('are needed where they are named', async () => {
    const { url, asked } = await startEcho()
    const refused = await run({ url, auth: { type: 'header', name: 'x-key', secret: 'crm' } })
    expect(refused).toMatchObject({ status: 'FAILED', errorCode: 'SECRET_UNAVAILABLE' })
    expect(asked).toEqual([])
  })
})

describe('a redirect to another host', () => {
  const headers = { 'x-api-key': 'k-1', 'x-custom': 'c-1', cookie: 'a=1', accept: 'application/json' }

  /** A server that redirects every request. */
  const startRedirect = (location: string, status: number) =>
    listen(createServer((_request, response) => response.writeHead(status, { location }).end()))

  it.each([301, 302, 303, 307, 308])('%i: carries no header but safe ones', async (status) => {
    const { url, asked } = await startEcho()
    const first = await startRedirect(`${url}/landed`, status)
    const secret = async () => 'value-of-secret'
    const auth = { type: 'header', name: 'x-auth', secret: 'crm' }
    expect(await run({ url: first, headers, auth }, {}, 120_000, { secret })).toMatchObject({ status: 'SUCCESS' })
    const { host: _host, connection: _connection, ...received } = asked[0]?.headers ?? {}
    const safe = { accept: 'application/json', 'accept-encoding': 'gzip, br', 'user-agent': 'tooldex' }
    expect(received).toEqual(safe)
  })

  it.each(['http://localhost', 'http://127.0.0.2', 'http://[::1]'])(
    'goes to no other private host, although its own may be private: %s',
    async (other) => {
      const { url, asked } = await startEcho()
      const first = await startRedirect(`${other}:${new URL(url).port}/`, 302)
      expect(await run({ url: first })).toMatchObject({ status: 'FAILED', errorCode: 'ADDRESS_REFUSED' })
      expect(asked).toEqual([])
    },
  )

  it.each([
    ['https://api.example.com/a', 'http://api.example.com/a'],
    ['https://api.example.com/a', 'http://other.example.com/'],
    ['https://api.example.com/a', 'HTTP:\\\\api.example.com'],
    ['https://api.example.com/a', 'ftp://api.example.com/'],
    ['https://api.example.com/a', 'javascript:alert(1)'],
    ['https://api.example.com/a', 'https://user:pass@api.example.com/'],
    ['https://api.example.com/a', 'https://['],
  ])('from %s to %s is refused', (from, to) => {
    expect(() => redirectTarget(to, new URL(from))).toThrow(expect.objectContaining({ code: 'ADDRESS_REFUSED' }))
  })

  it('stays encrypted with a relative URL or one without a scheme', () => {
    const from = new URL('https://api.example.com/a')
    for (const to of ['/b', '//other.example.com/b', 'https://other.example.com/b'])
      expect(redirectTarget(to, from).protocol).toBe('https:')
  })

  it('keeps its headers within one host', async () => {
    const asked: IncomingMessage['headers'][] = []
    const server = createServer((request, response) => {
      asked.push(request.headers)
      if (request.url === '/first') response.writeHead(302, { location: '/second' }).end()
      else response.setHeader('content-type', 'application/json').end('{}')
    })
    await run({ url: `${await listen(server)}/first`, headers })
    expect(asked[1]).toMatchObject(headers)
  })
})

describe('a dry run', () => {
  it.each(['http://127.0.0.1/', 'http://[::1]/', 'http://localhost/'])(
    'is refused as the call would be: %s',
    async (url) => {
      const plan = async () => executor.prepare({ tool: toolOf({ method: 'GET', url }), input: {} }).plan()
      await expect(plan()).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
    },
  )
})

describe('fault 141: values in an address', () => {
  it.each(['../../admin', '?x=1', '#part', '@evil.example', 'a/b', '%2e%2e', 'ä b'])(
    '%s is one part of it',
    async (id) => {
      const { url, asked } = await startEcho()
      await run({ url: `${url}/items/{id}/end` }, { id })
      expect(asked[0]?.url).toBe(`/items/${encodeURIComponent(id)}/end`)
    },
  )

  it('refuses a part that is a way up, and one that is not there', async () => {
    const { url } = await startEcho()
    for (const id of ['..', '.', ''])
      await expect(run({ url: `${url}/{id}` }, { id })).rejects.toMatchObject({ code: 'INPUT_INVALID' })
    await expect(run({ url: `${url}/{id}` }, {})).rejects.toMatchObject({ code: 'INPUT_INVALID' })
  })
})

describe('fault 142: proxies of the server', () => {
  it('are ignored', async () => {
    const { url: proxy, asked: byProxy } = await startEcho()
    const { url, asked } = await startEcho()
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'] as const
    for (const name of names) process.env[name] = proxy
    onTestFinished(() => {
      for (const name of names) delete process.env[name]
    })
    await createHttpExecutor()
      .prepare({ tool: toolOf({ method: 'GET', url, allowPrivate: true }), input: {} })
      .run({})
    expect([asked.length, byProxy.length]).toEqual([1, 0])
  })
})

describe('requests', () => {
  it('carry their parameters where the template says, with their types', async () => {
    const { url, asked } = await startEcho()
    const config = {
      method: 'POST',
      url: `${url}/{id}`,
      query: { q: '{text}', tag: '{tags}', fixed: 1, left: '{absent}' },
      headers: { 'X-For': 'it is {text}' },
      body: { count: '{count}', note: 'n: {text}', list: ['{tags}', '{absent}'], gone: '{absent}' },
    }
    await run(config, { id: 7, text: 'a&b', tags: ['x', 'y'], count: 3 })
    expect(asked[0]).toMatchObject({ url: '/7?q=a%26b&tag=x&tag=y&fixed=1', method: 'POST' })
    expect(asked[0]?.headers).toMatchObject({ 'x-for': 'it is a&b', 'content-type': 'application/json' })
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ count: 3, note: 'n: a&b', list: [['x', 'y']] })
  })

  it('give the part of the answer that is wanted', async () => {
    const { url } = await startEcho({ data: { items: [{ id: 1 }, { id: 2 }] } })
    expect((await run({ url, response: { pointer: '/data/items/1/id' } })).output).toBe(2)
    expect((await run({ url, response: { path: '$.data.items[*].id' } })).output).toEqual([1, 2])
    expect((await run({ url, response: { type: 'text' } })).output).toBe('{"data":{"items":[{"id":1},{"id":2}]}}')
    expect(await run({ url, response: { pointer: '/nowhere' } })).toMatchObject({
      status: 'FAILED',
      errorCode: 'HTTP_ERROR',
    })
  })

  it('keep all digits of a number in the answer, as a text where they do not fit', async () => {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end('{"id": 1234567890123456789, "count": 2}')
    })
    const { output } = await run({ url: await listen(server) })
    expect(output).toEqual({ id: '1234567890123456789', count: 2 })
  })

  it('are sent again only where that does no harm', async () => {
    let asked = 0
    const server = createServer((_request, response) => {
      asked++
      response.statusCode = asked < 3 ? 503 : 200
      response.end('done')
    })
    const url = await listen(server)
    expect(await run({ url })).toMatchObject({ status: 'SUCCESS', output: 'done' })
    expect(asked).toBe(3)
    asked = 0
    const posted = await run({ url, method: 'POST' })
    expect([posted.status, posted.errorCode, posted.output, asked]).toEqual(['FAILED', 'HTTP_ERROR', 'done', 1])
  })
})
