import { expect, it } from 'vitest'
import { onEachEngine } from '../support/each-engine.ts'
import { draft, expectProblem, register } from '../support/rest.ts'

const times = <Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))

onEachEngine('many requests at once', (server) => {
  const post = (path: string, body?: unknown, headers = {}) => server().request('POST', path, { body, headers })
  const get = (path: string) => server().request('GET', path)

  it('75: 100 changes of one tool at once give versions without a gap, one of them the latest', async () => {
    await register(server(), 'contended')
    const answers = await times(100, (index) =>
      server().request('PATCH', '/tools/contended', { body: { notes: `change ${index}` } }),
    )
    for (const answer of answers) if (answer.status !== 200) expectProblem(answer, [409, 503])
    const done = answers.filter(({ status }) => status === 200)
    expect(done.length).toBeGreaterThan(0)
    const { items } = (await get('/tools/contended/versions?limit=100')).body
    const { version } = (await get('/tools/contended')).body
    expect(version).toBe(done.length + 1)
    expect(new Set(done.map(({ body }) => body.version)).size).toBe(done.length)
    const numbers = items.map((each: { version: number }) => each.version)
    expect(numbers).toEqual(numbers.map((_: number, index: number) => version - index))
    expect(items.filter((each: { isLatest: boolean }) => each.isLatest)).toHaveLength(1)
  })

  it('78: the same name fifty times at once is registered once', async () => {
    const answers = await times(50, () => post('/tools', draft('only_one')))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const answer of answers) if (answer.status !== 201) expectProblem(answer, 409, 'NAME_TAKEN')
    expect((await get('/tools?search=only_one&total=true')).body.total).toBe(1)
  })

  it('79: steps that race make a legal history', async () => {
    await register(server(), 'racing')
    const steps = ['activate', 'deactivate', 'reactivate', 'deprecate', 'undeprecate'] as const
    const answers = await times(60, (index) => post(`/tools/racing/${steps[index % steps.length]}`))
    for (const answer of answers) if (answer.status !== 200) expectProblem(answer, 409, 'ILLEGAL_STEP')
    const { items } = (await get('/audit?subject=tool:racing&limit=100')).body
    let status = 'DRAFT'
    for (const { before, after, action } of items.reverse()) {
      if (action === 'tool.create') continue
      expect(before.status).toBe(status)
      status = after.status
    }
    expect((await get('/tools/racing')).body.status).toBe(status)
    expect(items).toHaveLength(1 + answers.filter((answer) => answer.status === 200).length)
  })

  it('82: categories that are moved at once never close a circle', async () => {
    const made = await times(8, (index) => post('/categories', { name: `moving_${index}` }))
    const ids = made.map(({ body }) => body.id as string)
    const moves = await times(80, (index) =>
      server().request('PATCH', `/categories/${ids[index % 8]}`, { body: { parentId: ids[(index * 3 + 1) % 8] } }),
    )
    for (const move of moves) if (move.status !== 200) expectProblem(move, [409, 503])
    const { items } = (await get('/categories')).body
    const parents = new Map<string, string | null>(
      items.map((each: { id: string; parentId: string | null }) => [each.id, each.parentId]),
    )
    for (const id of ids) {
      let [above, steps] = [parents.get(id) ?? null, 0]
      while (above !== null && ++steps <= 10) above = parents.get(above) ?? null
      expect(steps).toBeLessThanOrEqual(10)
    }
    const names = (nodes: { name: string; children: [] }[]): string[] =>
      nodes.flatMap((node) => [node.name, ...names(node.children)])
    expect(names((await get('/categories/tree')).body.items).filter((name) => name.startsWith('moving_'))).toHaveLength(
      8,
    )
  })

  it('34: one Idempotency-Key twenty times at once makes one tool and one answer', async () => {
    const headers = { 'idempotency-key': 'once-1' }
    const answers = await times(20, () => post('/tools', draft('idempotent'), headers))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201))
    for (const { body } of answers) expect(body).toEqual(answers[0]?.body)
    expect((await get('/tools/idempotent/versions')).body.items).toHaveLength(1)
    expectProblem(await post('/tools', draft('another'), headers), 422, 'KEY_REUSED')
    expectProblem(await post('/categories', { name: 'another' }, headers), 422, 'KEY_REUSED')
    expect((await get('/tools/another')).status).toBe(404)
  })

  it('34: a failure is not kept, and a key must be a key', async () => {
    const headers = { 'idempotency-key': 'fails-first' }
    expectProblem(await post('/tools', draft('Bad Name'), headers), 422, 'INPUT_INVALID')
    expect((await post('/tools', draft('fails_first'), headers)).status).toBe(201)
    expectProblem(await post('/tools', draft('x'), { 'idempotency-key': 'x'.repeat(201) }), 422)
    expectProblem(await post('/tools', draft('x'), { 'idempotency-key': ' ' }), 422)
  })

  it('34: one key of two callers is two keys', async () => {
    const other = (await post('/keys', { name: 'other caller', scopes: ['admin'] })).body.secret
    const headers = { 'idempotency-key': 'shared' }
    const first = await post('/categories', { name: 'of the first' }, headers)
    const second = await server().request('POST', '/categories', {
      body: { name: 'of the second' },
      headers,
      key: other,
    })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body.name).toBe('of the second')
  })
})
