import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { revisions } from './support/connect.ts'
import { type PlainServer, startPlainServer } from './support/start-plain-server.ts'
import { type SharedPostgres, sharedPostgres } from './support/start-postgres.ts'

const key = 'tdx_a_key_for_tests_only_0123456789'
const changes = 50

describe('two servers on one PostgreSQL', () => {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-replicas-'))
  let database: SharedPostgres
  let [url, first, second] = ['', undefined as unknown as PlainServer, undefined as unknown as PlainServer]

  beforeAll(async () => {
    database = await sharedPostgres()
    url = await database.createDatabase()
    const start = (name: string) =>
      startPlainServer({ DATABASE_URL: url, TOOLDEX_HOME: join(home, name), TOOLDEX_API_KEY: key }, ['coreutils'])
    first = await start('first')
    second = await start('second')
    await ask(first, 'POST', '/tools', {
      name: 'shown_elsewhere',
      displayName: 'Shown elsewhere',
      description: 'before any change',
      inputSchema: { type: 'object' },
      executorType: 'http',
      executorConfig: { method: 'GET', url: 'https://example.org' },
    })
    await ask(first, 'POST', '/tools/shown_elsewhere/activate')
  })
  afterAll(async () => {
    await Promise.all([first?.stop(), second?.stop()])
    await database?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  async function ask(server: PlainServer, method: string, path: string, body?: unknown) {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, unknown>
  }

  /** Changes through one server and searches through the other until it is there; the milliseconds that took. */
  async function staleness(word: string): Promise<number> {
    await ask(first, 'PATCH', '/tools/shown_elsewhere', { description: `about ${word}` })
    const started = performance.now()
    const search = async () => (await ask(second, 'GET', `/search?query=${word}&mode=bm25&level=schema`)).results
    await expect.poll(async () => JSON.stringify(await search()), { interval: 1 }).toContain(`about ${word}`)
    return performance.now() - started
  }

  it(`shows a change through one in a search through the other, ${changes} times`, async () => {
    const times: number[] = []
    for (let at = 0; at < changes; at++) times.push(await staleness(`zebra${at}x`))
    times.sort((a, b) => a - b)
    const share = (part: number) => (times[Math.ceil(part * times.length) - 1] ?? 0).toFixed(1)
    console.log(`staleness over ${changes} changes: p50 ${share(0.5)} ms, p95 ${share(0.95)} ms, most ${share(1)} ms`)
  })

  /** A proxy that passes each request to the next server. */
  async function startRoundRobin(): Promise<string> {
    let turn = 0
    const proxy = createServer((incoming, outgoing) => {
      const { hostname, port } = new URL(turn++ % 2 === 0 ? first.url : second.url)
      const options = { hostname, port, path: incoming.url, method: incoming.method, headers: incoming.headers }
      const forwarded = forward(options, (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers)
        response.pipe(outgoing)
      })
      forwarded.on('error', () => outgoing.destroy())
      outgoing.on('close', () => forwarded.destroy())
      incoming.pipe(forwarded)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      proxy.closeAllConnections()
      proxy.close()
    })
    return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  }

  it.each(revisions)(
    'serve MCP clients of revision %s behind a round-robin proxy: either answers',
    async (revision) => {
      const name = `mcp ${revision}`
      const { secret } = await ask(first, 'POST', '/keys', { name, scopes: ['read', 'call', 'write', 'admin'] })
      const policy = { default: 'enabled', tools: { coreutils_echo: { requireApproval: true } }, callers: [name] }
      await ask(first, 'PUT', `/policies/${revision}`, policy)
      const negotiation = revision === '2026-07-28' ? { versionNegotiation: { mode: 'auto' as const } } : {}
      const capabilities = { elicitation: { form: {} } }
      const client = new Client({ name: 'test', version: '1.0.0' }, { ...negotiation, capabilities })
      let asked = 0
      client.setRequestHandler('elicitation/create', () => {
        asked++
        return { action: 'accept' as const, content: { decision: 'approve' } }
      })
      const requestInit = { headers: { authorization: `Bearer ${secret}` } }
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${await startRoundRobin()}/mcp`), { requestInit }),
      )
      onTestFinished(() => client.close())
      for (let count = 0; count < 4; count++) {
        expect((await client.listTools()).tools).toHaveLength(3)
        const found = await client.callTool({ name: 'search_tools', arguments: { query: 'print a text', limit: 3 } })
        expect(found.isError, JSON.stringify(found)).toBeFalsy()
        const echo = { name: 'coreutils_echo', arguments: { message: `turn ${count}` } }
        const called = await client.callTool({ name: 'call_tool', arguments: echo }, { timeout: 120_000 })
        expect(called.structuredContent, JSON.stringify(called)).toMatchObject({ stdout: `turn ${count}\n` })
      }
      expect(asked).toBe(4)
    },
  )

  it('does so too after the connection that hears of changes was cut', async () => {
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    const isListening = sql`datname = current_database() and query ilike 'listen%'`
    const listening = async () => (await sql`select 1 from pg_stat_activity where ${isListening}`).length
    await expect.poll(listening).toBeGreaterThanOrEqual(2)
    const cut = await sql`select pg_terminate_backend(pid) from pg_stat_activity where ${isListening}`
    expect(cut.length).toBeGreaterThanOrEqual(2)
    const times = [await staleness('giraffe1'), await staleness('giraffe2')]
    console.log(`staleness right after the cut: ${times.map((time) => time.toFixed(1)).join(' ms, ')} ms`)
    await expect.poll(listening).toBeGreaterThanOrEqual(2)
    await staleness('giraffe3')
    await sql.end()
  })
})
