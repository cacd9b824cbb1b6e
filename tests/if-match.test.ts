import { expect, it } from 'vitest'
import { onServer } from './support/each-engine.ts'
import { expectProblem, register } from './support/rest.ts'

onServer('If-Match', (server) => {
  const send = (method: string, path: string, match: string, body?: object) =>
    server().request(method, path, { body, headers: { 'if-match': match } })
  const tagOf = async (path: string) => (await server().request('GET', path)).headers.get('etag') as string

  it('holds for no other tool of the same name', async () => {
    await register(server(), 'made_again')
    const first = await tagOf('/tools/made_again')
    await server().request('DELETE', '/tools/made_again')
    await register(server(), 'made_again')
    expectProblem(await send('PATCH', '/tools/made_again', first, { notes: 'x' }), 412, 'STALE')
    expectProblem(await send('DELETE', '/tools/made_again', first), 412, 'STALE')
    expect((await send('PATCH', '/tools/made_again', '"1"', { notes: 'x' })).body.version).toBe(2)
  })

  it('does not hold after a step, unless it names the version alone', async () => {
    await register(server(), 'stepped')
    const draft = await tagOf('/tools/stepped')
    expect((await send('POST', '/tools/stepped/activate', draft, {})).status).toBe(200)
    expectProblem(await send('PATCH', '/tools/stepped', draft, { notes: 'x' }), 412, 'STALE')
    expectProblem(await send('POST', '/tools/stepped/deactivate', draft, {}), 412, 'STALE')
    expect((await send('PATCH', '/tools/stepped', '"1"', { notes: 'x' })).status).toBe(200)
    expect((await send('PATCH', '/tools/stepped', await tagOf('/tools/stepped'), { notes: 'y' })).status).toBe(200)
  })

  it('holds where one of several does, and where anything is there', async () => {
    await register(server(), 'several')
    const change = (match: string, notes: string) => send('PATCH', '/tools/several', match, { notes })
    expectProblem(await change('"2", "3"', 'a'), 412, 'STALE')
    expectProblem(await change('"2", "1.5"', 'a'), 412, 'STALE')
    expect((await change('"1", "2"', 'a')).body.version).toBe(2)
    expect((await change(`"1", ${await tagOf('/tools/several')}`, 'b')).body.version).toBe(3)
    expect((await change('*', 'c')).body.version).toBe(4)
    expectProblem(await send('PATCH', '/tools/nobody', '*', { notes: 'x' }), 404, 'TOOL_NOT_FOUND')
  })

  it('holds for a category as it was read, and for no other of the same name', async () => {
    const make = (name: string, more: object = {}) =>
      server().request('POST', '/categories', { body: { name, ...more } })
    const change = (match: string, description: string) => send('PATCH', '/categories/kept', match, { description })
    await make('kept')
    const first = await tagOf('/categories/kept')
    expectProblem(await change('"1"', 'a'), 412, 'STALE')
    expect((await change(first, 'a')).status).toBe(200)
    expectProblem(await change(first, 'b'), 412, 'STALE')
    expectProblem(await send('DELETE', '/categories/kept', first), 412, 'STALE')
    expect((await change(`"1", W/${await tagOf('/categories/kept')}`, 'b')).status).toBe(200)
    const before = await tagOf('/categories/kept')
    await server().request('DELETE', '/categories/kept')
    await make('kept', { description: 'b' })
    expectProblem(await change(before, 'c'), 412, 'STALE')
    expect((await send('DELETE', '/categories/kept', await tagOf('/categories/kept'))).status).toBe(200)
    expectProblem(await send('DELETE', '/categories/kept', '*'), 404, 'NOT_FOUND')
  })

  it('no longer holds for a category that was moved with what it was in', async () => {
    const make = async (name: string, parentId?: string) =>
      (await server().request('POST', '/categories', { body: { name, parentId } })).body.id
    await make('moved_along', await make('goes_away'))
    const before = await tagOf('/categories/moved_along')
    expect((await server().request('DELETE', '/categories/goes_away?reparent=true')).status).toBe(200)
    expectProblem(await send('PATCH', '/categories/moved_along', before, { description: 'x' }), 412, 'STALE')
  })

  it('is refused where nothing can be held to it, and nothing is done', async () => {
    await server().request('POST', '/keys', { body: { name: 'stays' } })
    for (const [method, path, body] of [
      ['POST', '/categories', { name: 'not_made' }],
      ['POST', '/keys', { name: 'not_made' }],
      ['DELETE', '/keys/stays', undefined],
      ['POST', '/tags/rename', { from: 'a', to: 'b' }],
      ['PUT', '/policies/none', { default: 'enabled' }],
    ] as const) {
      const answer = await send(method, path, '"1"', body)
      expectProblem(answer, 422, 'INPUT_INVALID')
      expect(answer.body.detail).toContain('If-Match')
    }
    expectProblem(await server().request('GET', '/categories/not_made'), 404)
    const { items } = (await server().request('GET', '/keys')).body
    expect(items.find(({ name }: { name: string }) => name === 'stays').revokedAt).toBeNull()
    expect((await send('GET', '/keys', '"1"')).status).toBe(200)
  })

  it('holds for a proposal that is accepted on what the tool is', async () => {
    await register(server(), 'proposed')
    const stale = await tagOf('/tools/proposed')
    await server().request('POST', '/tools/proposed/activate', { body: {} })
    const { id } = (await server().request('POST', '/tools/proposed/proposals', { body: { change: { notes: 'x' } } }))
      .body
    expectProblem(await send('POST', `/proposals/${id}/accept`, stale, {}), 412, 'STALE')
    expect((await send('POST', `/proposals/${id}/accept`, await tagOf('/tools/proposed'), {})).status).toBe(200)
  })
})
