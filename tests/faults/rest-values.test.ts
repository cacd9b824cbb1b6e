import { expect, it } from 'vitest'
import { onServer } from '../support/each-engine.ts'
import { draft, expectProblem, register } from '../support/rest.ts'

const encoded = encodeURIComponent

onServer('values over HTTP', (server) => {
  const get = (path: string) => server().request('GET', path)

  it('24: what means something to SQL is taken letter by letter', async () => {
    const odd = `x'; drop table tools; --"\\%_$1`
    await register(server(), 'sql_a', { tags: [odd, '100%'], displayName: odd, description: 'a 100% _sure_ \\ thing' })
    await register(server(), 'sql_b', { tags: ['100x'], description: 'a 1000 xsurex thing' })
    const category = await server().request('POST', '/categories', { body: { name: odd } })
    expect(category.status).toBe(201)
    expect((await get(`/categories/${encoded(odd)}`)).body.id).toBe(category.body.id)
    const names = async (query: string) =>
      (await get(`/tools?${query}`)).body.items.map((tool: { name: string }) => tool.name)
    expect(await names(`search=${encoded('100%')}`)).toEqual(['sql_a'])
    expect(await names(`search=${encoded('_sure_')}`)).toEqual(['sql_a'])
    expect(await names(`search=${encoded('\\')}`)).toEqual(['sql_a'])
    expect(await names(`search=${encoded('%')}`)).toEqual(['sql_a'])
    expect(await names(`search=${encoded(odd)}`)).toEqual(['sql_a'])
    expect(await names(`tag=${encoded(odd.replaceAll(',', ''))}`)).toEqual(['sql_a'])
    expect(await names(`tag=${encoded('100_')}`)).toEqual([])
    expect(await names(`category=${encoded(odd)}`)).toEqual([])
    for (const sort of ['name; drop table tools', '(select 1)', 'hash', 'updated_at', '', '-', "name'"])
      expectProblem(await get(`/tools?sort=${encoded(sort)}`), 422, 'INPUT_INVALID')
    for (const path of [`/tools/${encoded(odd)}`, `/keys/${encoded(odd)}`, `/tools/sql_a${encoded("' or '1'='1")}`])
      expectProblem(await server().request(path.startsWith('/keys') ? 'DELETE' : 'GET', path), 404)
    expect((await get(`/audit?subject=${encoded(odd)}`)).body.items).toEqual([])
    const renamed = await server().request('POST', '/tags/rename', { body: { from: odd, to: `${odd}2` } })
    expect(renamed.body).toEqual({ tools: 1 })
  })

  it('25: a limit is a whole number from 1 to 100', async () => {
    for (const limit of [
      '-1',
      '0',
      '1e9',
      '1000000000',
      'NaN',
      '10; drop',
      'Infinity',
      '1.5',
      '',
      ' 5',
      '0x10',
      '９',
      '101',
    ])
      for (const path of ['/tools', '/tools/sql_a/versions', '/tools/sql_a/proposals', '/audit'])
        expectProblem(await get(`${path}?limit=${encoded(limit)}`), 422, 'INPUT_INVALID')
    expect((await get('/tools?limit=1')).body.items).toHaveLength(1)
    expect((await get('/tools?limit=100')).status).toBe(200)
    expect((await server().request('POST', '/search', { body: { query: 'thing', limit: 0 } })).status).toBe(200)
    for (const limit of [-1, 1e9, 1.5, '5', null, [1]].filter((each) => each !== null))
      expectProblem(await server().request('POST', '/search', { body: { query: 'thing', limit } }), 422)
  })

  it('26: a cursor that was changed, made up or taken from another list is refused', async () => {
    const { nextCursor } = (await get('/tools?limit=1')).body
    expect((await get(`/tools?limit=1&cursor=${nextCursor}`)).status).toBe(200)
    const [payload = '', signature = ''] = String(nextCursor).split('.')
    const forged = Buffer.from(JSON.stringify(['2020-01-01', 'x'])).toString('base64url')
    const flipped = `${payload.startsWith('W') ? 'X' : 'W'}${payload.slice(1)}`
    const bad = [
      `${forged}.${signature}`,
      `${flipped}.${signature}`,
      payload,
      `${payload}.`,
      `.${signature}`,
      'x',
      `${payload}.${'a'.repeat(22)}`,
      `${payload}.${signature.slice(0, 21)}é`,
    ]
    for (const cursor of bad)
      expectProblem(await get(`/tools?limit=1&cursor=${encoded(cursor)}`), 400, 'CURSOR_INVALID')
    for (const path of ['/tools?sort=name', '/tools?status=DRAFT', '/audit?limit=1', '/tools/sql_a/versions?limit=1'])
      expectProblem(await get(`${path}&cursor=${nextCursor}`.replace(/^([^?]*)&/, '$1?')), 400, 'CURSOR_INVALID')
    expectProblem(await server().request('POST', '/search', { body: { query: 'thing', cursor: nextCursor } }), 400)
    expectProblem(await get(`/tools?cursor=${'a'.repeat(2001)}`), 422)
  })

  it('26: pages neither repeat nor lose a tool', async () => {
    const seen: string[] = []
    let cursor = ''
    do {
      const { body } = await get(`/tools?limit=1&sort=name${cursor && `&cursor=${cursor}`}`)
      seen.push(...body.items.map(({ name }: { name: string }) => name))
      cursor = body.nextCursor ?? ''
    } while (cursor !== '')
    expect(seen).toEqual([...new Set(seen)].sort())
    expect((await get('/tools?total=true&limit=1')).body.total).toBe(seen.length)
  })

  it('27: a name is lower-case letters, digits and underscores', async () => {
    const bad = [
      'a/b',
      '..',
      '../x',
      'Upper',
      'x'.repeat(101),
      'раypal',
      'a b',
      'a-b',
      'a.b',
      '',
      ' a',
      'a\n',
      'ａ',
      'ı',
      '%2e%2e',
      'a@1',
      'a:b',
    ]
    for (const name of bad) {
      expectProblem(await server().request('POST', '/tools', { body: draft(name) }), 422, 'INPUT_INVALID')
      expectProblem(await server().request('PATCH', '/tools/sql_a', { body: { name } }), 422, 'INPUT_INVALID')
    }
    for (const name of ['a/b', '../x', 'раypal', '..%2f..%2fetc%2fpasswd'])
      expectProblem(await get(`/tools/${encoded(name)}`), 404)
    expectProblem(await get(`/tools/${'x'.repeat(201)}`), 422)
    expect((await server().request('POST', '/tools', { body: draft('x'.repeat(100)) })).status).toBe(201)
  })

  it('28: a category is never below itself', async () => {
    const make = async (name: string, parentId?: string) =>
      (await server().request('POST', '/categories', { body: { name, parentId } })).body
    const top = await make('cycle_top')
    const middle = await make('cycle_middle', top.id)
    const low = await make('cycle_low', middle.id)
    for (const parentId of [top.id, middle.id, low.id])
      expectProblem(
        await server().request('PATCH', '/categories/cycle_top', { body: { parentId } }),
        409,
        'ILLEGAL_STEP',
      )
    expectProblem(await server().request('DELETE', '/categories/cycle_middle'), 409, 'IN_USE')
    expectProblem(await server().request('POST', '/categories', { body: { name: 'cycle_low' } }), 409, 'NAME_TAKEN')
    const nowhere = '00000000-0000-4000-8000-000000000000'
    expectProblem(
      await server().request('POST', '/categories', { body: { name: 'lost', parentId: nowhere } }),
      422,
      'INPUT_INVALID',
    )
    expect((await get('/categories/cycle_top')).body.parentId).toBeNull()
  })

  it('29: a step that is not possible is refused, with those that are, and changes nothing', async () => {
    const before = await register(server(), 'steps')
    for (const step of ['deprecate', 'deactivate', 'reactivate', 'undeprecate']) {
      const answer = await server().request('POST', `/tools/steps/${step}`)
      expectProblem(answer, 409, 'ILLEGAL_STEP')
      expect(answer.body.detail).toContain('activate')
    }
    expect((await get('/tools/steps')).body).toEqual(before)
    expect((await server().request('POST', '/tools/steps/activate')).body.status).toBe('ACTIVE')
    expectProblem(await server().request('POST', '/tools/steps/activate'), 409, 'ILLEGAL_STEP')
  })

  it('30: a change based on an old version is rejected with 412', async () => {
    await register(server(), 'stale')
    const first = (await get('/tools/stale')).headers.get('etag') as string
    const patch = (match: string, notes: string) =>
      server().request('PATCH', '/tools/stale', { body: { notes }, headers: { 'if-match': match } })
    expect((await patch(first, 'one')).body.version).toBe(2)
    for (const match of [first, '"1"', '1', '"9"', 'W/"abc"', '"abc"', '""', '"-1"', '"1e1"'])
      expectProblem(await patch(match, 'two'), 412, 'STALE')
    expect((await patch('"2"', 'three')).body.version).toBe(3)
    expect((await patch('*', 'four')).body.version).toBe(4)
    const back = { body: { version: 1 }, headers: { 'if-match': '"2"' } }
    expectProblem(await server().request('POST', '/tools/stale/rollback', back), 412, 'STALE')
    expect((await get('/tools/stale')).body.version).toBe(4)
  })

  it('39: a long query of special characters is refused, or taken letter by letter and soon answered', async () => {
    const special = '(a+)+$[.*?^{|\\'
    const search = (query: string) => server().request('POST', '/search', { body: { query } })
    for (const text of [special.repeat(375_000), 'ab '.repeat(1_300_000), 'a'.repeat(40_000)])
      expectProblem(await search(text), 413, 'TOO_LARGE')
    await search('thing')
    for (const query of [special, special.repeat(70)]) {
      expect((await search(query)).status).toBe(200)
      expect((await get(`/tools?search=${encoded(query.slice(0, 1000))}`)).status).toBe(200)
    }
    expectProblem(await get(`/tools?search=${'a'.repeat(1001)}`), 422, 'INPUT_INVALID')
    const long = await get(`/tools?search=${'a'.repeat(100_000)}`)
    expectProblem(long, 431)
  })
})
