import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRegistry } from './support/open-registry.ts'
import { draft, register } from './support/rest.ts'

describe('regressions of the registry', () => {
  let server: Awaited<ReturnType<typeof openRegistry>>
  let writer: string
  let first: number
  beforeAll(async () => {
    server = await openRegistry()
    const body = { bundle: { tooldex: 1, tools: [draft('first')] } }
    first = (await server.request('POST', '/bundle', { body })).status
    await register(server, 'known')
    writer = (await server.request('POST', '/keys', { body: { name: 'writer', scopes: ['write'] } })).body.secret
  })
  afterAll(() => server?.close())

  it('a version number that no column holds is not a server error', async () => {
    for (const path of ['/tools/known/versions/99999999999', '/tools/known/diff?from=99999999999'])
      expect((await server.request('GET', path)).status).toBeLessThan(500)
    const back = await server.request('POST', '/tools/known/rollback', { body: { version: 99_999_999_999 } })
    expect(back.status).toBeLessThan(500)
  })

  it('a bundle that names an unknown category is refused', async () => {
    const tools = [draft('in_nothing', { category: 'nowhere' })]
    const answer = await server.request('POST', '/bundle', { body: { bundle: { tooldex: 1, tools } } })
    expect(answer.status).toBe(422)
  })

  it('a key that may only write cannot make a tool run code by way of a proposal', async () => {
    const change = { executorType: 'shell', executorConfig: { command: ['id'] } }
    const ask = (path: string, body?: unknown) => server.request('POST', path, { key: writer, body })
    const proposed = await ask('/tools/known/proposals', { change })
    if (proposed.status === 201) expect((await ask(`/proposals/${proposed.body.id}/accept`)).status).toBe(403)
    else expect(proposed.status).toBe(403)
  })

  it('a key that may only write cannot change the code that a tool runs', async () => {
    await register(server, 'runs_code', { executorType: 'shell', executorConfig: { command: ['date'] } })
    const body = { executorConfig: { command: ['id'] } }
    expect((await server.request('PATCH', '/tools/runs_code', { key: writer, body })).status).toBe(403)
  })

  it('a tool that has changed since is not deleted under If-Match', async () => {
    await register(server, 'deleted_late')
    await server.request('PATCH', '/tools/deleted_late', { body: { notes: 'changed' } })
    const answer = await server.request('DELETE', '/tools/deleted_late', { headers: { 'if-match': '"1"' } })
    expect(answer.status).toBe(412)
  })

  it('the first request to an embedded database may be an import', () => {
    expect(first).toBe(200)
  })
})
