import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invoke } from '../src/operations/invoke.ts'
import { executeTool } from '../src/operations/runs/execute.ts'
import { listTools } from '../src/operations/search/list-tools.ts'
import { searchTools } from '../src/operations/search/search-tools.ts'
import { eventually, makeKey, putPolicies } from './support/keys.ts'
import { openRecorded } from './support/open-recorded.ts'
import { registerScript } from './support/registered-tools.ts'
import { expectProblem } from './support/rest.ts'
import { ask, startServer, type TestServer } from './support/start-server.ts'
import { tempFile } from './support/temp-folder.ts'

let server: TestServer
let [bound, free, writer] = ['', '', '']
const hidden = 'secret_payroll'

beforeAll(async () => {
  server = await startServer({ words: ['coreutils'] })
  await registerScript(server, hidden, { script: 'echo "secret $1"' })
  await registerScript(server, 'public_words', { script: 'echo "public $1"' })
  bound = await makeKey(server, 'bound', ['call', 'read'])
  free = await makeKey(server, 'free', ['call', 'read'])
  writer = await makeKey(server, 'writer', ['write', 'call'])
  const rule = { args: { word: { pattern: '[a-z]+' }, count: { max: 3 } } }
  const policy = { default: 'disabled', tools: { public_words: rule, coreutils_cat: {} }, callers: ['bound', 'writer'] }
  await putPolicies(server, [{ name: 'narrow', policy }])
  await server.request('POST', `/tools/${hidden}/execute`, { key: free, body: { input: { word: 'past' }, wait: true } })
  await eventually(
    () => server.request('POST', '/search', { key: bound, body: { query: hidden } }),
    ({ body }) => !JSON.stringify(body).includes(hidden),
  )
})
afterAll(() => server?.stop())

const as = (key: string) => ({
  get: (path: string) => server.request('GET', path, { key }),
  post: (path: string, body: object = {}) => server.request('POST', path, { key, body }),
})
const names = (items: readonly { name: string }[]) => items.map(({ name }) => name).sort()

/** Everything that tells of tools, with what is asked for. */
const tellers = [
  ['search', (key: string) => as(key).post('/search', { query: hidden })],
  ['search by address', (key: string) => as(key).get(`/search?query=${hidden}`)],
  ['facets', (key: string) => as(key).post('/search', { facets: true, limit: 100 })],
  ['explain', (key: string) => as(key).post('/search', { query: 'secret', explain: true, explainTool: 'nothing' })],
  ['describe beside another', (key: string) => as(key).post('/describe', { ids: ['public_words', 'payroll'] })],
  ['definitions for models', (key: string) => as(key).get('/llm/tools?limit=1000')],
  ['registered tools', (key: string) => as(key).get('/tools?limit=100&total=true')],
  ['registered tools by text', (key: string) => as(key).get('/tools?search=secret')],
  ['recorded runs', (key: string) => as(key).get('/executions?limit=100')],
  ['the bundle', (key: string) => as(key).get('/bundle')],
  ['lint', (key: string) => as(key).get('/lint')],
  ['metrics', (key: string) => ask(`${server.url}/metrics`, 'GET', { key })],
] as const

describe('a tool that a stored policy hides from a caller', () => {
  it.each(tellers)('is not contained in: %s', async (name, ask) => {
    const answer = await ask(bound)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.text).not.toContain(hidden)
    const seen = await ask(free)
    // The same question shows it to others, so that the test asks the right thing.
    if (!['explain', 'describe beside another', 'facets'].includes(name)) expect(seen.text).toContain(hidden)
  })

  it('is as unknown as a tool that is not there, by every address', async () => {
    const nothing = 'no_such_tool'
    const addresses = [
      ['GET', '/tools/NAME'],
      ['GET', '/tools/NAME/doc'],
      ['GET', '/tools/NAME/versions'],
      ['GET', '/tools/NAME/versions/1'],
      ['GET', '/tools/NAME/diff'],
      ['GET', '/tools/NAME/proposals'],
      ['GET', '/tools/NAME/executions'],
      ['POST', '/tools/NAME/validate'],
      ['POST', '/tools/NAME/execute'],
      ['GET', '/llm/tools/NAME'],
      ['POST', '/llm/tools/NAME/invoke'],
    ] as const
    for (const [method, path] of addresses) {
      const ask = (name: string) =>
        server.request(method, path.replace('NAME', name), { key: bound, ...(method === 'POST' ? { body: {} } : {}) })
      const [there, absent] = [await ask(hidden), await ask(nothing)]
      expectProblem(there, absent.status, absent.body.code)
      expect(there.status, path).toBe(404)
      expect(there.body.detail.replaceAll(hidden, nothing)).toBe(absent.body.detail)
    }
    expectProblem(await as(bound).post('/describe', { ids: [hidden] }), 404, 'TOOL_NOT_FOUND')
    const { body } = await server.request('GET', `/executions?tool=${hidden}`)
    expectProblem(await as(bound).get(`/executions/${body.items[0].id}`), 404, 'NOT_FOUND')
    expectProblem(await as(bound).get(`/executions/${body.items[0].id}/events`), 404, 'NOT_FOUND')
    expect((await as(free).get(`/executions/${body.items[0].id}`)).status).toBe(200)
  })

  it('is not counted in statistics and sources', async () => {
    const look = async (key: string) => {
      const { tools, versions, catalog } = (await as(key).get('/stats')).body
      const sources = (await as(key).get('/sources')).body.items
      const counts = sources.map(({ name, tools, registered }: Record<string, unknown>) => [name, tools, registered])
      return { total: tools.total, versions, catalog: catalog.source.registry, counts }
    }
    const [mine, all] = [await look(bound), await look(free)]
    expect(mine).toEqual({
      total: 1,
      versions: 1,
      catalog: 1,
      counts: [
        ['coreutils', 1, undefined],
        ['registry', 1, 1],
      ],
    })
    expect(all).toMatchObject({ total: 2, versions: 2, catalog: 2 })
    expect(all.counts[1]).toEqual(['registry', 2, 2])
  })

  it('is not named by its config, where the caller may see none of its tools', async () => {
    const shut = await makeKey(server, 'shut', ['read'])
    const policy = { default: 'disabled', tools: { public_words: { args: {} } }, callers: ['shut'] }
    await putPolicies(server, [{ name: 'shut', policy }])
    const sourcesOf = async (key: string) => names((await as(key).get('/sources')).body.items)
    await expect.poll(() => sourcesOf(shut)).toEqual(['registry'])
    expect(await sourcesOf(free)).toEqual(['coreutils', 'registry'])
    expect((await server.request('DELETE', '/policies/shut')).status).toBe(200)
  })

  it('is counted for no tag and no category', async () => {
    const category = (await server.request('POST', '/categories', { body: { name: 'Money' } })).body
    const change = { tags: ['payday'], categoryId: category.id }
    expect((await server.request('PATCH', `/tools/${hidden}`, { body: change })).status).toBe(200)
    const look = async (key: string) => ({
      tags: (await as(key).get('/tags')).body.items.map(({ tag }: { tag: string }) => tag),
      listed: (await as(key).get('/categories')).body.items[0].tools,
      below: (await as(key).get('/categories/tree')).body.items[0].toolsBelow,
    })
    expect(await look(bound)).toEqual({ tags: [], listed: 0, below: 0 })
    expect(await look(free)).toEqual({ tags: ['payday'], listed: 1, below: 1 })
  })

  it('is not suggested for a name that is nearly its own', async () => {
    const { text } = await as(bound).post('/tools/secret_payrol/execute', { input: {} })
    expect(text).not.toContain(hidden)
    expect((await as(free).post('/tools/secret_payrol/execute', { input: {} })).text).toContain(hidden)
  })

  it('leaves listed tools unchanged: they are found, described, offered and run', async () => {
    const found = await as(bound).post('/search', { status: [], limit: 100 })
    expect(names(found.body.results)).toEqual(['coreutils_cat', 'public_words'])
    expect(found.body.omitted).toBe(0)
    const overview = await as(bound).post('/search', {})
    expect(
      overview.body.summary.map(({ name, toolCount }: { name: string; toolCount: number }) => [name, toolCount]),
    ).toEqual([
      ['coreutils', 1],
      ['registry', 1],
    ])
    expect((await as(bound).get('/llm/tools?limit=1000')).body.tools).toHaveLength(2)
    expect(names((await as(bound).get('/tools')).body.items)).toEqual(['public_words'])
    const run = await as(bound).post('/tools/public_words/execute', { input: { word: 'abc' }, wait: true })
    expect(run.body).toMatchObject({ status: 'SUCCESS', outputData: 'public abc\n' })
  })

  it('checks values for that caller only', async () => {
    const refused = await as(bound).post('/tools/public_words/execute', { input: { word: 'ABC' }, wait: true })
    expectProblem(refused, 403, 'POLICY_REFUSED')
    const many = await as(bound).post('/tools/public_words/execute', { input: { word: 'abc', count: 4 }, wait: true })
    expectProblem(many, 403, 'POLICY_REFUSED')
    const other = await as(free).post('/tools/public_words/execute', { input: { word: 'ABC', count: 4 }, wait: true })
    expect(other.body.status).toBe('SUCCESS')
  })

  it('is seen in the registry by owners of tools whom the policy binds, who may not call it all the same', async () => {
    expect((await as(writer).get(`/tools/${hidden}`)).status).toBe(200)
    expect((await as(writer).get('/tools')).text).toContain(hidden)
    expectProblem(await as(writer).post(`/tools/${hidden}/execute`, { input: { word: 'x' } }), 404, 'TOOL_NOT_FOUND')
    expect((await as(writer).post('/search', { query: hidden })).text).not.toContain(`"name":"${hidden}"`)
  })

  it('is explained to a bound administrator, and to no other caller', async () => {
    const admin = await makeKey(server, 'chief', ['admin'])
    const policy = { default: 'disabled', tools: { public_words: {} }, callers: ['chief'] }
    await putPolicies(server, [{ name: 'for-chief', policy }])
    const explain = (key: string) => as(key).post('/search', { query: 'secret', explainTool: hidden })
    const told = await eventually(
      () => explain(admin),
      ({ body }) => body.explained.reason.includes('for-chief'),
    )
    expect(told.body.explained.reason).toBe("the policy 'for-chief' hides it")
    expect((await explain(bound)).body.explained.reason).toBe('there is no such tool')
  })

  it('is seen again when the policy is gone, and the search of one caller never shows what another may see', async () => {
    const search = (key: string) => as(key).post('/search', { query: hidden })
    const [mine, theirs] = await Promise.all([search(bound), search(free)])
    expect(mine.text).not.toContain(`"name":"${hidden}"`)
    expect(theirs.body.results[0].name).toBe(hidden)
    const { body } = await server.request('GET', '/bundle')
    await server.request('POST', '/bundle', { body: { bundle: { ...body, policies: [] }, prune: true } })
    const after = await eventually(
      () => search(bound),
      (answer) => answer.body.results[0]?.name === hidden,
    )
    expect(after.body.results[0].name).toBe(hidden)
  })
})

describe('a registered tool under the policy file of its process', () => {
  it('is hidden, bounded or held for approval as the file says', async () => {
    const rules = 'shown: { args: { word: { pattern: good } } }, asked: { require_approval: true }'
    const world = await openRecorded({ policy: tempFile('policy.yaml', `default: disabled\ntools: { ${rules} }\n`) })
    try {
      for (const name of ['shown', 'asked', 'unlisted']) await world.register(name, { script: `echo "${name} $1"` })
      const { context } = world
      const call = (idOrName: string, word: string) =>
        invoke(executeTool, { idOrName, input: { word }, wait: true }, context)
      await expect(call('unlisted', 'good')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' })
      await expect(call('shown', 'bad')).rejects.toMatchObject({ code: 'POLICY_REFUSED' })
      expect(await call('shown', 'good')).toMatchObject({ status: 'SUCCESS', outputData: 'shown good\n' })
      expect(await call('asked', 'good')).toMatchObject({ status: 'PENDING', reason: 'approval' })
      const listed = await invoke(listTools, {}, context)
      expect(names(listed.tools)).toEqual(['asked', 'shown'])
      const found = await invoke(searchTools, { query: 'unlisted' }, context)
      expect(JSON.stringify(found)).not.toContain('Says what unlisted says')
    } finally {
      await world.close()
    }
  })
})
