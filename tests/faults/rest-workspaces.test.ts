import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { createStores, openDatabase } from '../../src/storage/index.ts'
import { onEachEngine } from '../support/each-engine.ts'
import { openMigrated } from '../support/migrated-database.ts'
import { expectProblem, register, draft as toolDraft } from '../support/rest.ts'
import { type TestServer, testKey } from '../support/start-server.ts'

const secret = 'key-of-the-other-workspace-0123456789'
const hidden = 'zebra_hidden'

/** The first key of a workspace makes it. */
async function addWorkspaces(where: { url?: string | undefined; home: string }): Promise<void> {
  const database = await openMigrated(where)
  const { keys } = createStores(database)
  for (const [workspace, key] of [
    ['default', testKey],
    ['other', secret],
  ] as const) {
    const hash = createHash('sha256').update(key).digest('hex')
    await keys.create({ workspace, actor: 'test' }, { name: 'admin', prefix: 'key', hash, scopes: ['admin'] })
  }
  await database.close()
}

/** Things of the default workspace that the other must not learn of. */
async function fill(of: TestServer) {
  const category = (await of.request('POST', '/categories', { body: { name: hidden } })).body.id
  const tool = (await register(of, hidden, { tags: [hidden], categoryId: category, description: `${hidden} thing` })).id
  await of.request('PATCH', `/tools/${hidden}`, { body: { notes: hidden } })
  await of.request('POST', `/tools/${hidden}/activate`)
  const proposed = await of.request('POST', `/tools/${hidden}/proposals`, {
    body: { change: { notes: `${hidden} 2` } },
  })
  return { tool, category, proposal: proposed.body.id }
}

const workspaces = (running: () => TestServer, url: () => string | undefined) => {
  let server: TestServer
  let ids: Awaited<ReturnType<typeof fill>>
  beforeAll(async () => {
    ids = await fill(running())
  })
  beforeEach(() => {
    server = running()
  })
  const other = (method: string, path: string, body?: unknown, headers = {}) =>
    server.request(method, path, { key: secret, body, headers })

  it('113: the contents of one are in no list, count, search, export or history of the other', async () => {
    const lists = [
      '/tools?total=true',
      '/tags',
      '/categories',
      '/categories/tree',
      '/bundle',
      '/audit',
      '/keys',
      '/llm/tools',
      `/tools?search=${hidden}&total=true`,
      `/tools?tag=${hidden}`,
    ]
    for (const path of lists) {
      const answer = await other('GET', path)
      expect(answer.status, path).toBe(200)
      expect(answer.text, path).not.toContain(hidden)
      expect(answer.text, path).not.toContain(ids.tool)
    }
    expect((await other('GET', '/tools?total=true')).body).toEqual({ items: [], total: 0 })
    for (const body of [
      {},
      { query: hidden },
      { query: hidden, mode: 'substring', facets: true },
      { query: 'thing', explainTool: hidden },
    ]) {
      const answer = await other('POST', '/search', body)
      expect(answer.status).toBe(200)
      expect(JSON.stringify(answer.body.results ?? [])).not.toContain(hidden)
      expect(answer.text).not.toContain(ids.tool)
    }
  })

  it('113: contents of another workspace and unknown ones get the same error', async () => {
    const nowhere = '00000000-0000-4000-8000-000000000000'
    const asked: readonly (readonly [string, (id: string) => string, unknown?])[] = [
      ['GET', (id) => `/tools/${id}`],
      ['PATCH', (id) => `/tools/${id}`, { notes: 'x' }],
      ['DELETE', (id) => `/tools/${id}`],
      ...['activate', 'deactivate', 'deprecate', 'validate'].map(
        (step) => ['POST', (id: string) => `/tools/${id}/${step}`] as const,
      ),
      ['POST', (id) => `/tools/${id}/rollback`, { version: 1 }],
      ['GET', (id) => `/tools/${id}/versions`],
      ['GET', (id) => `/tools/${id}/versions/1`],
      ['GET', (id) => `/tools/${id}/diff`],
      ['GET', (id) => `/tools/${id}/proposals`],
      ['POST', (id) => `/tools/${id}/proposals`, { change: { notes: 'x' } }],
      ['GET', (id) => `/tools/${id}@1`],
      ['GET', (id) => `/llm/tools/${id}`],
      ['GET', (id) => `/tools?category=${id}`],
      ['GET', (id) => `/categories/${id}`],
      ['PATCH', (id) => `/categories/${id}`, { name: 'mine' }],
      ['DELETE', (id) => `/categories/${id}?reparent=true`],
      ['POST', (id) => `/proposals/${id}/accept`],
      ['POST', (id) => `/proposals/${id}/refuse`],
    ]
    for (const [method, path, body] of asked)
      for (const id of [hidden, ids.tool, ids.category, ids.proposal]) {
        const answer = await other(method, path(id), body)
        const none = await other(method, path(id === hidden ? 'nobody_knows' : nowhere), body)
        expectProblem(answer, 404)
        const told = { ...answer.body, requestId: '', detail: answer.body.detail.replaceAll(id, 'ID') }
        const toldNone = {
          ...none.body,
          requestId: '',
          detail: none.body.detail.replaceAll(id === hidden ? 'nobody_knows' : nowhere, 'ID'),
        }
        expect(told).toEqual(toldNone)
      }
  })

  it('113: nothing of another workspace can be referred to, and its names are free', async () => {
    const refer = await other('POST', '/tools', {
      name: 'mine',
      displayName: 'x',
      description: 'x',
      inputSchema: { type: 'object' },
      executorType: 'http',
      executorConfig: { method: 'GET', url: 'https://example.org' },
      categoryId: ids.category,
    })
    expectProblem(refer, 422, 'TOOL_INVALID')
    expectProblem(await other('POST', '/categories', { name: 'mine', parentId: ids.category }), 422, 'INPUT_INVALID')
    expect((await other('POST', '/categories', { name: hidden })).status).toBe(201)
    const same = await other('POST', '/tools', {
      ...toolDraft(hidden),
      displayName: 'x',
    })
    expect(same.status).toBe(201)
    expect(same.body.id).not.toBe(ids.tool)
    expectProblem(await other('POST', '/tags/rename', { from: hidden, to: 'stolen' }), 404, 'NOT_FOUND')
    expect((await other('DELETE', `/tools/${hidden}`)).status).toBe(200)
    const mine = await server.request('GET', `/tools/${hidden}`)
    expect([mine.status, mine.body.id, mine.body.tags]).toEqual([200, ids.tool, [hidden]])
  })

  it('26, 113: cursors and Idempotency-Keys of one workspace mean nothing in the other', async () => {
    await register(server, 'second_tool')
    for (const path of ['/tools', '/audit', `/tools/${hidden}/versions`]) {
      const { nextCursor } = (await server.request('GET', `${path}?limit=1`)).body
      expect(nextCursor, path).toBeTypeOf('string')
      const target = path.includes('versions') ? '/tools' : path
      expectProblem(await other('GET', `${target}?limit=1&cursor=${nextCursor}`), 400, 'CURSOR_INVALID')
    }
    const headers = { 'idempotency-key': 'same-in-both' }
    const first = await server.request('POST', '/categories', { body: { name: 'kept' }, headers })
    const second = await other('POST', '/categories', { name: 'kept' }, headers)
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body.id).not.toBe(first.body.id)
  })

  it('113: a bundle with prune changes its own workspace only', async () => {
    const before = (await server.request('GET', '/tools?total=true')).body.total
    const pruned = await other('POST', '/bundle', { bundle: { tooldex: 1 }, prune: true })
    expect(pruned.status).toBe(200)
    expect(pruned.text).not.toContain(ids.tool)
    expect((await server.request('GET', '/tools?total=true')).body.total).toBe(before)
    expectProblem(await other('DELETE', '/keys/nobody'), 404)
  })

  it('115: no secret is in any table', async () => {
    const headers = { 'idempotency-key': 'secret-once' }
    const made = await server.request('POST', '/keys', { body: { name: 'looked for' }, headers })
    expect(made.status).toBe(201)
    // The embedded database belongs to one process.
    if (url() === undefined) await server.stop()
    const { db, close } = await openDatabase({ url: url(), home: server.home })
    const ask = async (query: ReturnType<typeof sql>) => {
      const answer = (await db.execute(query)) as unknown
      return (Array.isArray(answer) ? answer : (answer as { rows: unknown }).rows) as Record<string, string>[]
    }
    try {
      const tables = await ask(sql`select table_name from information_schema.tables where table_schema = 'public'`)
      expect(tables.length).toBeGreaterThan(5)
      for (const { table_name: name = '' } of tables) {
        const rows = await ask(sql`select to_jsonb(each)::text as text from ${sql.identifier(name)} each`)
        for (const { text } of rows)
          for (const each of [made.body.secret, server.key, secret]) expect(text, name).not.toContain(each)
      }
    } finally {
      await close()
    }
  })
}

onEachEngine('two workspaces', workspaces, { prepare: addWorkspaces })
