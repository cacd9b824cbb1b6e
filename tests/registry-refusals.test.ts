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

describe('who asks', () => {
  it('is told who they are, what they may do, and nothing without a key', async () => {
    const { secret } = (await server.request('POST', '/keys', { body: { name: 'caller', scopes: ['call'] } })).body
    expect((await server.request('GET', '/keys/current', { key: secret })).body).toEqual({
      name: 'caller',
      workspace: 'default',
      scopes: ['read', 'call'],
    })
    expectProblem(await server.request('GET', '/keys/current', { key: undefined }), 401)
    const said = await runCli(['keys', 'current', '--server', server.url], { env: { TOOLDEX_API_KEY: secret } })
    expect(said.stdout).toBe('caller in the workspace default: read, call\n')
  })

  it('is told how long to wait after too many wrong keys, while right keys are still taken', async () => {
    const guess = () => server.request('GET', '/tools', { key: 'tdx_guessed' })
    let answer = await guess()
    for (let count = 0; count < 25 && answer.status === 401; count++) answer = await guess()
    expectProblem(answer, 429, 'TOO_BUSY')
    const seconds = Number(answer.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(30)
    expect(seconds).toBeLessThanOrEqual(61)
    expect(answer.body.hint).toContain(`${seconds} seconds`)
    expect((await server.request('GET', '/tools')).status).toBe(200)
  })
})

describe('a list', () => {
  it('is read by numbered pages that say how many there are in all, or by cursors, never by both', async () => {
    for (const name of ['paged_a', 'paged_b', 'paged_c']) await register(server, name, { tags: ['paged'] })
    const list = (query: string) => server.request('GET', `/tools?tag=paged&sort=name&limit=2${query}`)
    const [first, second, third] = [
      (await list('&page=1')).body,
      (await list('&page=2')).body,
      (await list('&page=3')).body,
    ]
    expect(first.items.concat(second.items).map(({ name }: { name: string }) => name)).toEqual([
      'paged_a',
      'paged_b',
      'paged_c',
    ])
    expect([first.total, second.total, third.total, third.items]).toEqual([3, 3, 3, []])
    expect((await list(`&cursor=${first.nextCursor}`)).body.items).toEqual(second.items)
    expectProblem(await list(`&page=2&cursor=${first.nextCursor}`), 422, 'INPUT_INVALID')
    expectProblem(await list('&page=0'), 422, 'INPUT_INVALID')
    const words = ['tools', 'list', '--tag', 'paged', '--sort', 'name', '--limit', '2', '--page', '2']
    const said = await runCli([...words, '--server', server.url], { env: { TOOLDEX_API_KEY: server.key } })
    expect(said.stdout).toContain('3 in all')
    expect(said.stdout).toContain('paged_c')
    expect(said.stdout).not.toContain('paged_a')
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
