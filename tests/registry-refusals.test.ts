import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorTable } from '../src/base/errors.ts'
import { expectProblem, register } from './support/rest.ts'
import { runCli } from './support/run-cli.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { tempFolder } from './support/temp-folder.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
  await register(server, 'greet')
}, 60_000)
afterAll(() => server.stop())

describe('what a body says and nobody knows', () => {
  it.each([
    ['/tools/greet/execute', { input: {}, dry_run: true }, 'dry_run'],
    ['/tools/greet/execute', { word: 'x' }, 'word'],
    ['/llm/tools/greet/invoke', { arguments: {}, dryRun: true }, 'dryRun'],
    ['/tools/greet/activate', { now: true }, 'now'],
  ])('is refused, and nothing is done: %s %j', async (path, body, name) => {
    const answer = await server.request('POST', path, { body })
    expectProblem(answer, 422, 'INPUT_INVALID')
    expect(answer.text).toContain(name)
    expect((await server.request('GET', '/executions?tool=greet')).body.items).toEqual([])
  })
})

describe('keys', () => {
  const create = (name: string, more: object = {}) =>
    server.request('POST', '/keys', { body: { name, scopes: ['admin'], ...more } })

  it('are refused from the moment they are revoked', async () => {
    const { secret } = (await create('leaving')).body
    for (const [method, path, body] of [
      ['GET', '/keys', undefined],
      ['POST', '/keys', { name: 'made_by_leaving' }],
    ] as const)
      expect((await server.request(method, path, { key: secret, body })).status).toBeLessThan(300)
    expect((await server.request('DELETE', '/keys/leaving')).status).toBe(200)
    expectProblem(await server.request('GET', '/keys', { key: secret }), 401)
    expectProblem(await server.request('POST', '/keys', { key: secret, body: { name: 'later' } }), 401)
  })

  it('are never without one that may make others, nor dead from the beginning', async () => {
    expectProblem(await server.request('DELETE', '/keys/admin'), 409, 'IN_USE')
    expectProblem(await create('old', { expiresAt: '2020-01-01T00:00:00Z' }), 422, 'INPUT_INVALID')
  })
})

describe('proposals', () => {
  it('are accepted only on what whoever accepts has seen, and change something', async () => {
    const propose = (change: object) => server.request('POST', '/tools/greet/proposals', { body: { change } })
    expectProblem(await propose({}), 422, 'INPUT_INVALID')
    const { id } = (await propose({ description: 'Proposed.' })).body
    await server.request('PATCH', '/tools/greet', { body: { description: 'Changed since.' } })
    const accept = (version: string) =>
      server.request('POST', `/proposals/${id}/accept`, { body: {}, headers: { 'if-match': version } })
    expectProblem(await accept('"1"'), 412, 'STALE')
    expect((await server.request('GET', '/tools/greet')).body.description).toBe('Changed since.')
    expect((await accept('"2"')).body.tool).toMatchObject({ version: 3, description: 'Proposed.' })
  })
})

it('a tag that is given its own name changes no tool', async () => {
  await register(server, 'tagged', { tags: ['same'] })
  expect((await server.request('POST', '/tags/rename', { body: { from: 'same', to: 'same' } })).body.tools).toBe(0)
  expect((await server.request('GET', '/tools/tagged')).body.version).toBe(1)
})

it.each([
  [['tools', 'list', '--server', 'foo'], {}, "--server is no address: 'foo'"],
  [['search', 'x', '--server', 'http://[bad'], {}, "--server is no address: 'http://[bad'"],
  [['tools', 'list'], { TOOLDEX_URL: 'localhost:7331' }, "TOOLDEX_URL is no address: 'localhost:7331'"],
])('%j with %j: what is no address is named', async (words, env, message) => {
  const { code, stderr } = await runCli(words, { env })
  expect([code, stderr]).toEqual([errorTable.USAGE.exit, expect.stringContaining(message)])
})

it('an empty folder removes nothing, even with --prune', async () => {
  const env = { TOOLDEX_API_KEY: server.key }
  const { code, stderr } = await runCli(['apply', tempFolder(), '--prune', '--server', server.url], { env })
  expect([code, stderr]).toEqual([errorTable.USAGE.exit, expect.stringContaining('has nothing in it')])
  expect((await server.request('GET', '/tools/greet')).status).toBe(200)
})
