import { expect, it } from 'vitest'
import { onEachEngine } from './support/each-engine.ts'
import { expectProblem, register } from './support/rest.ts'

onEachEngine('If-Match', (server) => {
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
