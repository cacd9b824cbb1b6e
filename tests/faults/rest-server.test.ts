import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { routes } from '../../src/surfaces/rest/routes.ts'
import { holdConnection } from '../support/hold-connection.ts'
import { draft, expectProblem, register } from '../support/rest.ts'
import { runCli } from '../support/run-cli.ts'
import { ask, startServer, type TestServer } from '../support/start-server.ts'
import { tempFolder } from '../support/temp-folder.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server?.stop())

describe('every response', () => {
  it('a path with other methods lists them', async () => {
    const put = await server.request('PUT', '/tools', { body: {} })
    expectProblem(put, 405, 'METHOD_NOT_ALLOWED')
    expect(put.headers.get('allow')).toBe('GET, HEAD, POST')
    const health = await ask(`${server.url}/healthz`, 'POST')
    expectProblem(health, 405, 'METHOD_NOT_ALLOWED')
    expect(health.headers.get('allow')).toBe('GET, HEAD')
    expectProblem(await server.request('POST', '/executions/x/events'), 405, 'METHOD_NOT_ALLOWED')
    for (const method of ['PROPFIND', 'QUERY']) expectProblem(await server.request(method, '/tools'), 405)
    expectProblem(await server.request('GET', '/nothing'), 404, 'NOT_FOUND')
    expectProblem(await server.request('GET', '/tools/'), 404, 'NOT_FOUND')
  })

  it('a collection whose members are written by name says how', async () => {
    const all = routes.map(({ http }) => `${http.method} ${http.path}`)
    const named = all.filter((route) => /^put \/\w+\/\{\w+\}$/.test(route)).map((route) => route.slice(4))
    const only = named.filter((path) => !all.includes(`post ${path.slice(0, path.lastIndexOf('/'))}`))
    expect(only).toEqual(expect.arrayContaining(['/toolsets/{name}', '/policies/{name}']))
    const hintOf = async (method: string, path: string) => {
      const answer = await server.request(method, path, { body: {} })
      expectProblem(answer, 405, 'METHOD_NOT_ALLOWED')
      return answer.body.hint
    }
    for (const path of only) {
      const hint = `Name one of them in the path: PUT /api/v1${path}.`
      expect(await hintOf('POST', path.slice(0, path.lastIndexOf('/')))).toBe(hint)
    }
    expect(await hintOf('DELETE', '/tools')).toContain('DELETE /api/v1/tools/{')
  })

  it('HEAD is GET without the body, OPTIONS lists the methods, and other origins are rejected', async () => {
    const head = await server.request('HEAD', '/tools')
    const { headers } = await server.request('GET', '/tools')
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.get('etag')).toBe(headers.get('etag'))
    const preflight = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    const foreign = await server.request('OPTIONS', '/tools', { headers: preflight, key: undefined })
    expectProblem(foreign, 403, 'FORBIDDEN')
    const options = await server.request('OPTIONS', '/tools', { key: undefined })
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST'])
    const plain = await server.request('GET', '/tools', { headers: { origin: 'https://evil.example' } })
    expectProblem(plain, 403, 'FORBIDDEN')
    for (const answer of [foreign, options, plain])
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(plain.headers.get('x-content-type-options')).toBe('nosniff')
    expect(plain.headers.get('x-frame-options')).toBe('DENY')
  })

  it('what a caller has already is not sent again', async () => {
    await register(server, 'tagged')
    const first = await server.request('GET', '/tools/tagged')
    const tag = first.headers.get('etag') as string
    const again = (match: string) => server.request('GET', '/tools/tagged', { headers: { 'if-none-match': match } })
    for (const match of [tag, `W/${tag}`, `"x", ${tag}`, '*']) expect((await again(match)).status, match).toBe(304)
    expect((await again('"other"')).status).toBe(200)
    await server.request('POST', '/tools/tagged/activate')
    expect((await again(tag)).status).toBe(200)
    const list = await server.request('GET', '/tools')
    const known = { 'if-none-match': list.headers.get('etag') as string }
    expect((await server.request('GET', '/tools', { headers: known })).status).toBe(304)
  })

  it('no key, half a key and another scheme are refused', async () => {
    for (const authorization of [
      '',
      'Bearer',
      'Bearer ',
      `Basic ${server.key}`,
      server.key,
      `Bearer ${server.key}x y`,
    ]) {
      const answer = await server.request('GET', '/tools', { key: undefined, headers: { authorization } })
      expectProblem(answer, [401, 429])
      if (answer.status === 401) expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  it('a name that DNS was made to point here, and a page of another site, reach no route', async () => {
    const ask = (method: string, path: string, headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const authorization = `Bearer ${server.key}`
        const sent = request(`${server.url}${path}`, { method, headers: { authorization, ...headers } }, (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode))
        })
        sent.once('error', reject).end()
      })
    const { port } = new URL(server.url)
    const foreign = [{ host: `evil.example:${port}` }, { origin: `http://evil.example:${port}` }, { origin: 'null' }]
    const plain = ['/', '/docs', '/openapi.json', '/healthz', '/readyz', '/metrics', '/nothing'].map((path) => [
      'GET',
      path,
    ])
    const all = [
      ...plain,
      ['OPTIONS', '/api/v1/tools'],
      ['GET', '/api/v1/executions/x/events'],
      ...routes.map(({ http: { method, path } }) => [method.toUpperCase(), `/api/v1${path.replaceAll(/[{}]/g, '')}`]),
    ] as [string, string][]
    for (const [method, path] of all)
      for (const headers of foreign)
        expect([method, path, await ask(method, path, headers)]).toEqual([method, path, 403])
    for (const path of ['/docs', '/openapi.json', '/healthz', '/api/v1/tools'])
      for (const host of [`localhost:${port}`, `[::1]:${port}`])
        expect(await ask('GET', path, { host, origin: `http://${host}` })).toBe(200)
  })

  it.each([
    ['a strange host', 'GET /api/v1/tools HTTP/1.1\r\nhost: a@b\r\n\r\n', 400],
    [
      'another host in the request line',
      'GET http://evil.example/api/v1/tools HTTP/1.1\r\nhost: localhost\r\n\r\n',
      403,
    ],
    ['no host', 'GET /api/v1/tools HTTP/1.0\r\n\r\n', 400],
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['a long head', `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    [
      'two lengths',
      'POST /api/v1/tools HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{',
      400,
    ],
    [
      'a length and chunks',
      'POST /api/v1/tools HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
  ])('%s is answered in the same shape', async (_, text, status) => {
    const socket = holdConnection(server, text)
    let answer = ''
    socket.setEncoding('utf8').on('data', (more: string) => {
      answer += more
      if (answer.includes('"requestId"')) socket.destroy()
    })
    await new Promise((resolve) => socket.once('close', resolve))
    expect(answer.split('\r\n')[0]).toContain(String(status))
    expect(answer).toContain('application/problem+json')
  })
})

describe('starting and stopping', () => {
  it('120: an address that others reach needs a key that was chosen, and a long one', async () => {
    for (const key of [undefined, '', 'short']) {
      const env = { TOOLDEX_HOME: tempFolder(), TOOLDEX_API_KEY: key, DATABASE_URL: undefined }
      const { code, stderr } = await runCli(['serve', '--host', '0.0.0.0', '--port', '0'], { env })
      expect([code, stderr]).toEqual([2, expect.stringContaining('0.0.0.0')])
      expect(existsSync(join(env.TOOLDEX_HOME, 'server.json'))).toBe(false)
    }
  })

  it('a port that is taken is left for the next one, and that is said', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as AddressInfo
    const second = await startServer({ words: ['--port', String(port)] })
    onTestFinished(() => second.stop())
    expect(Number(new URL(second.url).port)).toBeGreaterThan(port)
    expect(second.stderr()).toContain(`port ${port} is in use; listening on ${new URL(second.url).port} instead`)
  })

  it('an address of another machine is reported', async () => {
    const env = { TOOLDEX_HOME: tempFolder(), TOOLDEX_API_KEY: 'a-long-enough-secret', DATABASE_URL: undefined }
    const { code, stderr } = await runCli(['serve', '--host', '203.0.113.7', '--port', '0'], { env })
    expect([code, stderr]).toEqual([2, expect.stringContaining('203.0.113.7')])
  })

  it('a second server on the same embedded database is refused, naming the first', async () => {
    const env = { TOOLDEX_HOME: server.home, DATABASE_URL: undefined, TOOLDEX_URL: undefined }
    const { code, stderr } = await runCli(['serve', '--port', '0'], { env })
    expect(code).not.toBe(0)
    expect(stderr).toContain(String(server.pid))
    expect((await server.request('GET', '/tools?limit=1')).status).toBe(200)
    expect(JSON.parse(readFileSync(join(server.home, 'server.json'), 'utf8')).url).toBe(server.url)
  })

  it('a request that runs when the server is stopped gets its answer', async () => {
    const home = tempFolder()
    const own = await startServer({ home })
    onTestFinished(() => own.stop())
    const body = JSON.stringify(draft('drained'))
    const half = body.length >> 1
    const head = `host: localhost\r\nexpect: 100-continue\r\nauthorization: Bearer ${own.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
    const socket = holdConnection(own, `POST /api/v1/tools HTTP/1.1\r\n${head}\r\n\r\n`)
    let answer = ''
    socket.setEncoding('utf8').on('data', (more: string) => {
      answer += more
    })
    await expect.poll(() => answer).toMatch(/^HTTP\/1\.1 100 /)
    socket.write(body.slice(0, half))
    own.signal('SIGTERM')
    await sleep(500)
    socket.write(body.slice(half))
    expect(await own.ended).toBe(0)
    expect(answer).toMatch(/^HTTP\/1\.1 201 /m)
    expect(existsSync(join(home, 'server.json'))).toBe(false)
    await expect(fetch(`${own.url}/healthz`)).rejects.toThrow()
    const again = await startServer({ home })
    onTestFinished(() => again.stop())
    expect((await again.request('GET', '/tools/drained')).status).toBe(200)
  })
})
