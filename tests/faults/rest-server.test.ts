import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { draft, expectProblem, register } from '../support/rest.ts'
import { runCli } from '../support/run-cli.ts'
import { ask, startServer, type TestServer } from '../support/start-server.ts'
import { tempFolder } from '../support/temp-folder.ts'

let server: TestServer
let folder: string
const logFile = () => join(folder, 'log')
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tooldex-log-'))
  server = await startServer({ env: { TOOLDEX_LOG_FILE: logFile() } })
}, 60_000)
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A connection that has sent this much and waits. */
function open(text: string, to = server): Socket {
  const socket = connect(Number(new URL(to.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(text)
  onTestFinished(() => void socket.destroy())
  return socket
}

const closed = (socket: Socket): Promise<number> => {
  const started = performance.now()
  socket.resume()
  return new Promise((resolve) => socket.once('close', () => resolve(performance.now() - started)))
}

describe('a server under attack', () => {
  it('35: heads and bodies that come too slowly are let go, and others are served meanwhile', async () => {
    const heads = Array.from({ length: 200 }, () => open('GET /api/v1/tools HTTP/1.1\r\nhost: x\r\nx-slow: '))
    const bodies = Array.from({ length: 50 }, () =>
      open(
        `POST /api/v1/tools HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.key}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
      ),
    )
    const ends = Promise.all([...heads.map(closed), ...bodies.map(closed)])
    const dripping = setInterval(() => {
      for (const socket of [...heads, ...bodies]) if (socket.writable) socket.write('a')
    }, 1000)
    for (let index = 0; index < 20; index++) expect((await server.request('GET', '/tools?limit=1')).status).toBe(200)
    const times = await ends
    clearInterval(dripping)
    expect(Math.max(...times.slice(0, 200))).toBeLessThan(20_000)
    expect(Math.max(...times)).toBeLessThan(45_000)
    expect((await server.request('GET', '/tools?limit=1')).status).toBe(200)
  }, 60_000)

  it('38: what callers send is one escaped line in the log, or none', async () => {
    const evil = 'x\r\n2026-01-01T00:00:00.000Z ERROR forged\u001b[2J\u001b[31m\u0085\u2028'
    await server.request('GET', `/tools/${encodeURIComponent(evil)}`)
    await server.request('GET', `/${encodeURIComponent(evil)}`)
    await server.request('POST', '/tools', { body: draft(evil) })
    await register(server, 'logged', { description: evil, changelog: evil, tags: [evil] })
    await server.request('POST', '/search', { body: { query: evil } })
    const { headers } = await server.request('GET', '/tools/logged', {
      headers: { 'x-request-id': 'a b"' },
    })
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const kept = await server.request('GET', '/tools/logged', { headers: { 'x-request-id': 'trace-1.a_b' } })
    expect(kept.headers.get('x-request-id')).toBe('trace-1.a_b')
    await sleep(200)
    const text = readFileSync(logFile(), 'utf8')
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/)
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z (?:DEBUG|INFO|WARNING|ERROR) /)
    expect(text).not.toMatch(/^\S+ ERROR forged/m)
  })

  it('114: a key in the address is refused and not written down', async () => {
    for (const name of ['key', 'token', 'access_token', 'api_key', 'apiKey', 'KEY', 'secret'])
      for (const key of [server.key, undefined])
        expectProblem(await server.request('GET', `/tools?${name}=${server.key}`, { key }), 401, 'UNAUTHORIZED')
    await sleep(200)
    expect(readFileSync(logFile(), 'utf8')).not.toContain(server.key)
    expect(server.stderr()).not.toContain(server.key)
  })

  it('115: secrets are kept as hashes and shown once', async () => {
    const headers = { 'idempotency-key': 'make-a-key' }
    const made = await server.request('POST', '/keys', { body: { name: 'shown once', scopes: ['read'] }, headers })
    expect(made.status).toBe(201)
    const { secret } = made.body
    expectProblem(
      await server.request('POST', '/keys', { body: { name: 'shown once', scopes: ['read'] }, headers }),
      409,
    )
    for (const path of ['/keys', '/audit?limit=100']) {
      const { text } = await server.request('GET', path)
      expect(text).not.toContain(secret)
      expect(text).not.toContain(server.key)
      expect(text).not.toMatch(/"hash"/)
    }
    expect((await server.request('GET', '/tools', { key: secret })).status).toBe(200)
    expectProblem(await server.request('POST', '/tools', { key: secret, body: draft('x') }), 403, 'FORBIDDEN')
    expectProblem(await server.request('GET', '/keys', { key: secret }), 403, 'FORBIDDEN')
    expect((await server.request('DELETE', '/keys/shown%20once')).status).toBe(200)
    await sleep(1100)
    expectProblem(await server.request('GET', '/tools', { key: secret }), 401, 'UNAUTHORIZED')
    await sleep(100)
    expect(readFileSync(logFile(), 'utf8')).not.toContain(secret)
  })

  it('115: guessing is slowed down, and a right key goes on working', async () => {
    expect((await server.request('GET', '/tools')).status).toBe(200)
    const answers = []
    for (let index = 0; index < 40; index++)
      answers.push(await server.request('GET', '/tools', { key: `guess-${index}` }))
    expect(answers[0]?.status).toBe(401)
    expectProblem(answers.at(-1) as (typeof answers)[number], 429, 'TOO_BUSY')
    expect(answers.at(-1)?.headers.get('retry-after')).toMatch(/^\d+$/)
    await sleep(1100)
    expect((await server.request('GET', '/tools')).status).toBe(200)
  })
})

describe('what every answer is like', () => {
  it('an address that takes another method says which', async () => {
    const put = await server.request('PUT', '/tools', { body: {} })
    expectProblem(put, 405, 'METHOD_NOT_ALLOWED')
    expect(put.headers.get('allow')).toBe('GET, HEAD, POST')
    const health = await ask(`${server.url}/healthz`, 'POST')
    expectProblem(health, 405, 'METHOD_NOT_ALLOWED')
    expect(health.headers.get('allow')).toBe('GET, HEAD')
    for (const method of ['PROPFIND', 'QUERY']) expectProblem(await server.request(method, '/tools'), 405)
    expectProblem(await server.request('GET', '/nothing'), 404, 'NOT_FOUND')
    expectProblem(await server.request('GET', '/tools/'), 404, 'NOT_FOUND')
  })

  it('HEAD is GET without the body, OPTIONS says what there is, and no other site is let in', async () => {
    const head = await server.request('HEAD', '/tools')
    const { headers } = await server.request('GET', '/tools')
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.get('etag')).toBe(headers.get('etag'))
    const preflight = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    const options = await server.request('OPTIONS', '/tools', { headers: preflight, key: undefined })
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST'])
    const plain = await server.request('GET', '/tools', { headers: { origin: 'https://evil.example' } })
    for (const answer of [options, plain])
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

  it.each([
    ['a strange host', 'GET /api/v1/tools HTTP/1.1\r\nhost: a@b\r\n\r\n', 400],
    ['no host', 'GET /api/v1/tools HTTP/1.0\r\n\r\n', 400],
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['a long head', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    ['two lengths', 'POST /api/v1/tools HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{', 400],
    [
      'a length and chunks',
      'POST /api/v1/tools HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
  ])('%s is answered in the same shape', async (_, text, status) => {
    const socket = open(text)
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

describe('starting and stopping', { timeout: 90_000 }, () => {
  it('an address that others reach needs a key that was chosen, and a long one', async () => {
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
    expect(second.stderr()).toContain(`port ${port} is taken; listening on ${new URL(second.url).port} instead`)
  })

  it('an address that is not here is said plainly', async () => {
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
    const head = `host: x\r\nauthorization: Bearer ${own.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
    const socket = open(`POST /api/v1/tools HTTP/1.1\r\n${head}\r\n\r\n${body.slice(0, half)}`, own)
    let answer = ''
    socket.setEncoding('utf8').on('data', (more: string) => {
      answer += more
    })
    await sleep(1000)
    const started = performance.now()
    own.signal('SIGTERM')
    await sleep(500)
    socket.write(body.slice(half))
    expect(await own.ended).toBe(0)
    expect(answer).toMatch(/^HTTP\/1\.1 201 /)
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(existsSync(join(home, 'server.json'))).toBe(false)
    await expect(fetch(`${own.url}/healthz`)).rejects.toThrow()
    const again = await startServer({ home })
    onTestFinished(() => again.stop())
    expect((await again.request('GET', '/tools/drained')).status).toBe(200)
  })
})
