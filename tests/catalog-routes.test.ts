import { beforeAll, expect, it } from 'vitest'
import { onServer } from './support/each-engine.ts'
import { eventually } from './support/keys.ts'
import { expectProblem, register } from './support/rest.ts'
import { runInline } from './support/run-here.ts'
import type { TestServer } from './support/start-server.ts'

const policy = { default: 'disabled', tools: { cp: { args: { source: { pattern: '[a-z]+' } } } } }

async function keyOf(server: TestServer, scope: string, workspace?: string): Promise<string> {
  const body = { name: `${scope} ${Math.random()}`, scopes: [scope], workspace }
  return (await server.request('POST', '/keys', { body })).body.secret as string
}

onServer(
  'the catalog over HTTP',
  (server) => {
    beforeAll(async () => {
      await register(server(), 'shown_tool', { description: 'Shows the tides of a harbour for a day.' })
      await server().request('POST', '/tools/shown_tool/activate')
      await register(server(), 'poor_tool', { description: 'x' })
      await server().request('POST', '/tools/poor_tool/activate')
      await register(server(), 'draft_tool', { description: 'y' })
      await eventually(
        () => server().request('GET', '/search?query=poor_tool'),
        ({ text }) => text.includes('poor_tool'),
      )
    })

    it('measures search by requests whose answers are known', async () => {
      const queries = [
        { query: 'tides of a harbour', relevant: ['shown_tool'] },
        { query: 'show the tides', relevant: ['shown_tool', 'no_such_tool'] },
        { query: 'tides', relevant: [] },
      ]
      const { status, body } = await server().request('POST', '/eval', { body: { queries, mode: 'bm25' } })
      expect(status).toBe(200)
      const found = { recall1: 75, recall10: 75, hit1: 100, mrr: 100 }
      expect(body).toMatchObject({ sets: [{ set: 'catalog', queries: 3, ...found }], macro: found })
      expect(body.sets[0].tools).toBeGreaterThan(1)
      expect(body.warnings).toEqual([
        'catalog: 1 relevant id(s) match no tool; they count as not found',
        'catalog: 1 query(s) have no relevant tool; they count for the verdict only',
      ])
      // A draft is not offered, so that it cannot be found.
      const hidden = await server().request('POST', '/eval', {
        body: { queries: [{ query: 'y', relevant: ['draft_tool'] }] },
      })
      expect(hidden.body.macro.recall10).toBe(0)
    })

    it('measures no more requests at once than it says', async () => {
      const ask = (queries: unknown) => server().request('POST', '/eval', { body: { queries } })
      expectProblem(
        await ask(Array.from({ length: 201 }, () => ({ query: 'tides', relevant: [] }))),
        422,
        'INPUT_INVALID',
      )
      expectProblem(await ask([]), 422, 'INPUT_INVALID')
      expectProblem(await ask([{ query: 'tides' }]), 422, 'INPUT_INVALID')
    })

    it('keeps policies by name, and writes each change down', async () => {
      const put = await server().request('PUT', '/policies/strict', { body: policy })
      expect([put.status, put.body.name, put.body.policy]).toMatchObject([200, 'strict', policy])
      expect((await server().request('GET', '/policies/strict')).body).toEqual(put.body)
      expect((await server().request('GET', '/policies')).body.items).toEqual([put.body])
      const enabled = await server().request('PUT', '/policies/strict', { body: { default: 'enabled' } })
      expect(enabled.body.policy).toMatchObject({ default: 'enabled', tools: {} })
      const gone = await server().request('DELETE', '/policies/strict')
      expect(gone.body).toEqual(enabled.body)
      expectProblem(await server().request('GET', '/policies/strict'), 404, 'NOT_FOUND')
      expectProblem(await server().request('DELETE', '/policies/strict'), 404, 'NOT_FOUND')
      const { items } = (await server().request('GET', '/audit?subject=policy:strict')).body
      expect(items.map((entry: { action: string }) => entry.action)).toEqual([
        'policy.remove',
        'policy.change',
        'policy.create',
      ])
    })

    it('refuses a policy that makes no sense, by field', async () => {
      const put = (body: unknown) => server().request('PUT', '/policies/odd', { body })
      const pattern = await put({ tools: { cp: { args: { source: { pattern: '(' } } } } })
      expectProblem(pattern, 422, 'INPUT_INVALID')
      expect(pattern.body.errors[0].pointer).toBe('/tools/cp/args/source/pattern')
      expectProblem(await put({ nonsense: 1 }), 422, 'INPUT_INVALID')
      expectProblem(await put({ executor: { type: 'docker' } }), 422, 'INPUT_INVALID')
    })

    it('lets writers read policies and only administrators change them, each in their workspace', async () => {
      await server().request('PUT', '/policies/mine', { body: policy })
      const writer = await keyOf(server(), 'write')
      expect((await server().request('GET', '/policies/mine', { key: writer })).status).toBe(200)
      // A policy names the tools that it hides.
      const reader = await keyOf(server(), 'read')
      expectProblem(await server().request('GET', '/policies/mine', { key: reader }), 403, 'FORBIDDEN')
      for (const method of ['PUT', 'DELETE']) {
        const body = method === 'PUT' ? policy : undefined
        expectProblem(await server().request(method, '/policies/mine', { key: writer, body }), 403, 'FORBIDDEN')
      }
      const other = await keyOf(server(), 'admin', 'elsewhere')
      expect((await server().request('GET', '/policies', { key: other })).body.items).toEqual([])
      expectProblem(await server().request('GET', '/policies/mine', { key: other }), 404, 'NOT_FOUND')
    })

    it('counts', async () => {
      const { body } = await server().request('GET', '/stats')
      expect(body).toMatchObject({
        tools: { total: 3, status: { ACTIVE: 2, DRAFT: 1 }, executorType: { http: 3 } },
        versions: 3,
        categories: 0,
        policies: 1,
        openProposals: 0,
        catalog: { source: { cli: expect.any(Number), registry: 2 } },
        keys: expect.any(Number),
        database: { engine: expect.stringMatching(/^(pglite|postgres)$/), bytes: expect.any(Number) },
      })
      expect(body.database.bytes).toBeGreaterThan(1_000_000)
      const reader = await server().request('GET', '/stats', { key: await keyOf(server(), 'read') })
      // The policy from before hides every tool from keys that may only read.
      expect(reader.body).toMatchObject({ tools: { total: 0 } })
      expect(Object.keys(reader.body)).not.toEqual(expect.arrayContaining(['keys']))
      expect(reader.body.database).toBeUndefined()
      const other = await server().request('GET', '/stats', { key: await keyOf(server(), 'admin', 'elsewhere') })
      expect(other.body).toMatchObject({ tools: { total: 0 }, versions: 0, policies: 0, catalog: { total: 0 } })
      expect(other.body.database).toBeUndefined()
    })

    it('lists the sources', async () => {
      const { items } = (await server().request('GET', '/sources')).body
      expect(items).toEqual([
        { kind: 'config', name: 'coreutils', state: 'loaded', tools: expect.any(Number), warnings: 0 },
        { kind: 'registry', name: 'registry', state: 'loaded', tools: 2, registered: 3, warnings: 0 },
      ])
      const other = await server().request('GET', '/sources', { key: await keyOf(server(), 'read', 'elsewhere') })
      expect(other.body.items.map((item: { kind: string }) => item.kind)).toEqual(['registry'])
    })

    it('lints registered tools too, over HTTP and on the command line alike', async () => {
      const { body } = await server().request('GET', '/lint')
      const rules = body.findings.filter((finding: { tool: string }) => finding.tool === 'poor_tool')
      expect(rules).toMatchObject([{ rule: 'short-description' }])
      expect(body.findings.some((finding: { tool: string }) => finding.tool === 'draft_tool')).toBe(false)
      expect(body.sources).toContainEqual(expect.objectContaining({ source: 'registry', tools: 2 }))
      const env = { TOOLDEX_URL: server().url, TOOLDEX_API_KEY: server().key }
      const { code, stdout } = await runInline(['lint', '--json'], { env })
      expect([code, JSON.parse(stdout)]).toEqual([0, body])
      const here = JSON.parse((await runInline(['lint', 'coreutils', '--json'], { env })).stdout)
      expect(here.tools).toBe(body.tools - 2)
    })
  },
  { words: ['coreutils'] },
)
