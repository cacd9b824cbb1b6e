import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { hashKey } from '../../src/operations/registry/keys.ts'
import { onServer } from '../support/each-engine.ts'
import { draft, expectProblem, register } from '../support/rest.ts'
import type { TestServer } from '../support/start-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'tooldex-log-'))
const logFile = () => join(folder, 'log')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const attack = (running: () => TestServer) => {
  let server: TestServer
  beforeEach(() => {
    server = running()
  })

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
      for (const key of [secret, server.key]) expect(text).not.toContain(hashKey(key))
    }
    expect((await server.request('GET', '/tools', { key: secret })).status).toBe(200)
    expectProblem(await server.request('POST', '/tools', { key: secret, body: draft('x') }), 403, 'FORBIDDEN')
    expectProblem(await server.request('GET', '/keys', { key: secret }), 403, 'FORBIDDEN')
    expect((await server.request('DELETE', '/keys/shown%20once')).status).toBe(200)
    await expect.poll(async () => (await server.request('GET', '/tools', { key: secret })).status).toBe(401)
    await sleep(100)
    expect(readFileSync(logFile(), 'utf8')).not.toContain(secret)
  })

  it('115: guessing is slowed down, and valid keys go on working, used before or not', async () => {
    const make = async (name: string, scopes: readonly string[]) =>
      (await server.request('POST', '/keys', { body: { name, scopes } })).body.secret as string
    const [fresh, gone] = [await make('never used', ['read']), await make('to be revoked', ['read'])]
    const answers = []
    for (let index = 0; index < 40; index++)
      answers.push(await server.request('GET', '/tools', { key: `guess-${index}` }))
    expect(answers[0]?.status).toBe(401)
    expectProblem(answers.at(-1) as (typeof answers)[number], 429, 'TOO_BUSY')
    expect(answers.at(-1)?.headers.get('retry-after')).toMatch(/^\d+$/)
    expect((await server.request('GET', '/tools', { key: fresh })).status).toBe(200)
    expect((await server.request('DELETE', '/keys/to%20be%20revoked')).status).toBe(200)
    expect((await server.request('POST', '/categories', { body: { name: 'After a revocation' } })).status).toBe(201)
    expectProblem(await server.request('GET', '/tools', { key: gone }), 429, 'TOO_BUSY')
  })
}

onServer('a server under attack', attack, { env: { TOOLDEX_LOG_FILE: logFile() } })
