import { expect, it } from 'vitest'
import { onServer } from './support/each-engine.ts'
import { draft, expectProblem, register } from './support/rest.ts'

onServer('answers of the registry', (server) => {
  const post = (path: string, body: object, key = server().key) => server().request('POST', path, { body, key })

  it('have the location of a created resource', async () => {
    for (const [path, body] of [
      ['/tools', draft('located')],
      ['/categories', { name: 'located' }],
      ['/keys', { name: 'located' }],
    ] as const) {
      const made = await post(path, body)
      expect(made.status, made.text).toBe(201)
      expect(made.headers.get('location')).toBe(`/api/v1${path}/${made.body.id}`)
    }
    const { url, key } = server()
    const { headers } = await post('/tools', draft('located_too'))
    const found = await fetch(new URL(headers.get('location') as string, url), {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(await found.json()).toMatchObject({ name: 'located_too' })
  })

  it('name a name that is taken', async () => {
    await register(server(), 'first_of_all')
    await register(server(), 'second')
    await post('/categories', { name: 'a, b) c' })
    await post('/keys', { name: 'taken key' })
    const answers = [
      ['first_of_all', await post('/tools', draft('first_of_all'))],
      ['first_of_all', await server().request('PATCH', '/tools/second', { body: { name: 'first_of_all' } })],
      ['a, b) c', await post('/categories', { name: 'a, b) c' })],
      ['taken key', await post('/keys', { name: 'taken key' })],
    ] as const
    for (const [name, answer] of answers) {
      expectProblem(answer, 409, 'NAME_TAKEN')
      expect(answer.body.detail).toContain(`'${name}'`)
      expect(answer.body.errors).toMatchObject([{ pointer: '/name' }])
    }
  })

  it('list only keys that a body takes', async () => {
    await register(server(), 'hinted')
    for (const [path, known] of [
      ['/tools/hinted', 'displayName'],
      ['/categories/hinted', 'parentId'],
    ] as const) {
      const answer = await server().request('PATCH', path, { body: { nmae: 'x', expectedVersio: 1 } })
      expectProblem(answer, 422, 'INPUT_INVALID')
      expect(answer.text).toContain(known)
      expect(answer.text).not.toMatch(/idOrName|'expectedVersion'|, expectedVersion/)
    }
  })

  it('tell of a schema that is only written differently', async () => {
    const schema = (values: readonly string[]) => ({ type: 'object', properties: { zone: { enum: values } } })
    await register(server(), 'reordered', { inputSchema: schema(['eu', 'us']) })
    const body = { inputSchema: schema(['us', 'eu']) }
    expect((await server().request('PATCH', '/tools/reordered', { body })).body.version).toBe(2)
    const diff = (await server().request('GET', '/tools/reordered/diff')).body
    expect(diff).toMatchObject({ class: 'wording', fields: [{ field: 'inputSchema', class: 'wording' }] })
    expect(diff.text).toContain('written differently, means the same')
  })

  it('have no row numbers in the audit, and name the creator of a key of another workspace', async () => {
    const made = await post('/keys', { name: 'guest', scopes: ['admin'], workspace: 'team' })
    expect(made.status, made.text).toBe(201)
    expect(made.body.createdBy).toBe('default/key:admin')
    const own = (await server().request('GET', '/audit?subject=key:team/guest')).body.items
    expect(own).toMatchObject([{ action: 'key.create', actor: 'key:admin', after: { workspace: 'team' } }])
    const theirs = (await server().request('GET', '/audit', { key: made.body.secret })).body.items
    expect(theirs).toMatchObject([{ action: 'key.create', actor: 'default/key:admin', subject: 'key:guest' }])
    for (const entry of [...own, ...theirs]) expect(entry).not.toHaveProperty('id')
    expectProblem(await post('/keys', { name: 'guest', workspace: 'team' }), 409, 'NAME_TAKEN')
    expect((await server().request('GET', '/audit?subject=key:team/guest')).body.items).toHaveLength(1)
    const first = (await server().request('GET', '/audit?limit=1')).body
    const second = (await server().request('GET', `/audit?limit=1&cursor=${first.nextCursor}`)).body
    expect(second.items).toHaveLength(1)
    expect(second.items).not.toEqual(first.items)
  })
})
