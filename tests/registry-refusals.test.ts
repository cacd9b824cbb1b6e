import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { errorTable } from '../src/base/errors.ts'
import { draft, expectProblem, register } from './support/rest.ts'
import { runInline } from './support/run-here.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { tempFolder } from './support/temp-folder.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
  await register(server, 'greet')
})
afterAll(() => server.stop())

describe('unknown fields of a body', () => {
  it.each([
    ['/tools/greet/execute', { input: {}, dry_run: true }, 'dry_run'],
    ['/tools/greet/execute', { word: 'x' }, 'word'],
    ['/llm/tools/greet/invoke', { arguments: {}, dryRun: true }, 'dryRun'],
    ['/tools/greet/activate', { now: true }, 'now'],
  ])('are rejected without effect: %s %j', async (path, body, name) => {
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

describe('the name of a key', () => {
  it.each(['a\nb', 'a\tb', 'a\r', 'a\u001b[31mb', '\u202eabc', 'a\u0085b', 'a\u200bb'])(
    'has no control character or invisible one: %j',
    async (name) => {
      const answer = await server.request('POST', '/keys', { body: { name: `x${name}y`, scopes: ['read'] } })
      expectProblem(answer, 422, 'INPUT_INVALID')
      expect(answer.body.errors).toEqual([
        expect.objectContaining({ pointer: '/name', hint: expect.stringContaining('ci-runner') }),
      ])
    },
  )
})

describe('the name of a tool', () => {
  it('is not __proto__, which no policy could name', async () => {
    const tool = { ...draft('greet'), name: '__proto__' }
    for (const answer of [
      await server.request('POST', '/tools', { body: tool }),
      await server.request('POST', '/validate', { body: tool }),
      await server.request('PATCH', '/tools/greet', { body: { name: '__proto__' } }),
      await server.request('POST', '/bundle', { body: { bundle: { tooldex: 1, tools: [tool] } } }),
    ]) {
      expect(answer.text).toContain('must be another name')
      expect(answer.text).toContain('/name')
    }
    await register(server, 'constructor')
    await server.request('POST', '/tools/constructor/activate')
    const planned = await server.request('POST', '/tools/constructor/execute', { body: { input: {}, dryRun: true } })
    expect(planned).toMatchObject({ status: 200, body: { plan: expect.anything() } })
  })
})

describe('the current key', () => {
  it('returns name and scopes, and an error without a key', async () => {
    const { secret } = (await server.request('POST', '/keys', { body: { name: 'caller', scopes: ['call'] } })).body
    expect((await server.request('GET', '/keys/current', { key: secret })).body).toEqual({
      name: 'caller',
      workspace: 'default',
      scopes: ['read', 'call'],
      codeMode: false,
    })
    expectProblem(await server.request('GET', '/keys/current', { key: undefined }), 401)
    const said = await runInline(['keys', 'current', '--server', server.url], { env: { TOOLDEX_API_KEY: secret } })
    expect(said.stdout).toBe('caller in the workspace default: read, call\n')
  })
})

describe('a list', () => {
  it('is read by numbered pages with a total, or by cursors, never by both', async () => {
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
    const said = await runInline([...words, '--server', server.url], { env: { TOOLDEX_API_KEY: server.key } })
    expect(said.stdout).toContain('3 in total')
    expect(said.stdout).toContain('paged_c')
    expect(said.stdout).not.toContain('paged_a')
  })
})

describe('proposals', () => {
  it('are accepted only on the version that the acceptor has seen, and contain a change', async () => {
    const propose = (change: object) => server.request('POST', '/tools/greet/proposals', { body: { change } })
    expectProblem(await propose({}), 422, 'INPUT_INVALID')
    const { id } = (await propose({ description: 'Proposed.' })).body
    await server.request('PATCH', '/tools/greet', { body: { description: 'Changed since.' } })
    const accept = (version: string) =>
      server.request('POST', `/proposals/${id}/accept`, { body: {}, headers: { 'if-match': version } })
    expectProblem(await accept('"1"'), 412, 'STALE')
    const unseen = await server.request('POST', `/proposals/${id}/accept`, { body: {} })
    expectProblem(unseen, 412, 'STALE')
    expect(unseen.body.detail).toBe('greet: description was changed since the proposal was made from version 1.')
    expect(unseen.body.hint).toContain('If-Match: "2"')
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
  [['tools', 'list', '--server', 'foo'], {}, "--server is not a valid URL: 'foo'"],
  [['search', 'x', '--server', 'http://[bad'], {}, "--server is not a valid URL: 'http://[bad'"],
  [['tools', 'list'], { TOOLDEX_URL: 'localhost:7331' }, "TOOLDEX_URL is not a valid URL: 'localhost:7331'"],
])('%j with %j: an invalid URL is named', async (words, env, message) => {
  const { code, stderr } = await runInline(words, { env })
  expect([code, stderr]).toEqual([errorTable.USAGE.exit, expect.stringContaining(message)])
})

it('an empty folder removes nothing, even with --prune', async () => {
  const env = { TOOLDEX_API_KEY: server.key }
  const { code, stderr } = await runInline(['apply', tempFolder(), '--prune', '--server', server.url], { env })
  expect([code, stderr]).toEqual([
    errorTable.USAGE.exit,
    expect.stringContaining('contains no tools, categories, policies, toolsets, limits or sources'),
  ])
  expect((await server.request('GET', '/tools/greet')).status).toBe(200)
})

describe('a proposal that is decided', () => {
  it('still shows what it changes, in which version, however the tool went on', async () => {
    await register(server, 'decided', { description: 'One.' })
    const propose = async (description: string) =>
      (await server.request('POST', '/tools/decided/proposals', { body: { change: { description } } })).body.id
    const [yes, no] = [await propose('Two.'), await propose('Other.')]
    expect((await server.request('POST', `/proposals/${yes}/accept`, { body: {} })).status).toBe(200)
    expect((await server.request('POST', `/proposals/${no}/refuse`, { body: {} })).status).toBe(200)
    await server.request('PATCH', '/tools/decided', { body: { description: 'Three.' } })
    const diffs = await Promise.all(
      [yes, no].map(async (id) => (await server.request('GET', `/proposals/${id}`)).body.diff.fields),
    )
    expect(diffs).toMatchObject([
      [{ field: 'description', before: 'One.', after: 'Two.' }],
      [{ field: 'description', before: 'One.', after: 'Other.' }],
    ])
    const { items } = (await server.request('GET', '/tools/decided/proposals')).body
    expect(items.map(({ diff }: { diff: { class: string } }) => diff.class)).toEqual(['wording', 'wording'])
    const env = { TOOLDEX_API_KEY: server.key }
    const { stdout } = await runInline(['tools', 'proposal', yes, '--server', server.url], { env })
    expect(stdout).toContain('One.')
    expect(stdout).toContain('Two.')
  })
})

describe('a new tool', () => {
  it('is rejected for an unknown category, a taken name and an invalid schema at once, each with a hint', async () => {
    await register(server, 'taken')
    const nowhere = '00000000-0000-4000-8000-000000000000'
    const wrong = { ...draft('taken'), categoryId: nowhere, inputSchema: { type: 'object', minProperties: -1 } }
    const { body } = await server.request('POST', '/tools', { body: wrong })
    const places = body.errors.map(({ pointer }: { pointer: string }) => pointer)
    expect(places).toEqual(['/inputSchema/minProperties', '/categoryId', '/name'])
    for (const { hint } of body.errors) expect(hint).toMatch(/\w{3}/)
    const valid = await server.request('POST', '/validate', { body: { ...draft('taken'), categoryId: nowhere } })
    expect(valid.body).toMatchObject({ valid: false })
    expectProblem(await server.request('POST', '/tools', { body: draft('taken') }), 409, 'NAME_TAKEN')
    const shape = await server.request('POST', '/tools', {
      body: { ...draft('x'), tags: 7, categoryId: 'y', notes: {} },
    })
    expect(shape.body.errors).toHaveLength(3)
    for (const { hint } of shape.body.errors) expect(hint).toMatch(/\w{3}/)
  })

  it('loses no key silently', async () => {
    const raw = JSON.stringify(draft('lost')).replace('"executorConfig":{', '"executorConfig":{"__proto__":{"a":1},')
    const answer = await server.request('POST', '/tools', { raw })
    expectProblem(answer, 422, 'INPUT_INVALID')
    expect(answer.body.errors[0].pointer).toBe('/executorConfig/__proto__')
  })
})

describe('a version', () => {
  it('is set once', async () => {
    await register(server, 'pinned_twice')
    await server.request('POST', '/tools/pinned_twice/activate')
    const run = (body: object) =>
      server.request('POST', '/tools/pinned_twice@1/execute', { body: { dryRun: true, ...body } })
    expect((await run({ version: 1 })).status).toBe(200)
    const both = await run({ version: 2 })
    expectProblem(both, 422, 'INPUT_INVALID')
    expect(both.body.detail).toBe('The name has version 1, but the call has version 2.')
  })
})

describe('the input of a command', () => {
  it('is widened by administrators only, and described by every writer', async () => {
    const tool = {
      executorType: 'shell',
      executorConfig: { command: ['echo', '{{host}}'] },
      inputSchema: { type: 'object', properties: { host: { type: 'string', enum: ['a', 'b'] } } },
    }
    await register(server, 'guarded', tool)
    const { secret: key } = (await server.request('POST', '/keys', { body: { name: 'writer', scopes: ['write'] } }))
      .body
    const change = (host: object) =>
      server.request('PATCH', '/tools/guarded', {
        key,
        body: { inputSchema: { type: 'object', properties: { host } } },
      })
    expectProblem(await change({ type: 'string' }), 403, 'FORBIDDEN')
    expect((await change({ type: 'string', enum: ['a', 'b'], description: 'Which.' })).status).toBe(200)
  })

  it('117: is registered by administrators only, and nothing is started for others', async () => {
    const { secret: key } = (await server.request('POST', '/keys', { body: { name: 'other', scopes: ['write'] } })).body
    const mark = join(tempFolder(), 'started')
    const kinds = {
      shell: { executorConfig: { command: ['touch', mark] } },
      cli: { executorConfig: { baseCommand: 'touch', args: [{ name: 'file', default: mark, positional: true }] } },
      python: { scriptContent: `open(${JSON.stringify(mark)}, 'w')\ndef main(given):\n    return 1\n` },
      mcp: { executorConfig: { server: 'any', tool: 'any' } },
    }
    for (const [executorType, fields] of Object.entries(kinds)) {
      const body = { ...draft(`by_writer_${executorType}`), executorType, executorConfig: {}, ...fields }
      expectProblem(await server.request('POST', '/tools', { key, body }), 403, 'FORBIDDEN')
    }
    expect(existsSync(mark)).toBe(false)
  })
})

// Last, because the address of the tests may not try other keys for a while after it.
describe('a client that guesses keys', () => {
  it('gets the time to wait after too many wrong keys, while valid keys are accepted', async () => {
    const guess = () => server.request('GET', '/tools', { key: 'tdx_guessed' })
    let answer = await guess()
    for (let count = 0; count < 25 && answer.status === 401; count++) answer = await guess()
    expectProblem(answer, 429, 'TOO_BUSY')
    const seconds = Number(answer.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(61)
    expect(answer.body.hint).toContain(`${seconds} seconds`)
    expect((await server.request('GET', '/tools')).status).toBe(200)
  })
})

it('a connection is closed after a body that is too long to be read to its end, and the response announces it', async () => {
  const length = 200 * 1024 * 1024
  const headers = {
    authorization: `Bearer ${server.key}`,
    'content-type': 'application/json',
    'content-length': length,
  }
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const sending = request(`${server.url}/api/v1/tools`, { method: 'POST', headers, agent })
  sending.on('error', () => {})
  const chunk = Buffer.alloc(1024 * 1024, ' ')
  const send = () => {
    while (!sending.destroyed && sending.write(chunk));
  }
  sending.on('drain', send)
  send()
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  expect([response.statusCode, response.headers.connection]).toEqual([413, 'close'])
  sending.destroy()
})
