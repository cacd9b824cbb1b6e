import { expect, it } from 'vitest'
import { onServer } from './support/each-engine.ts'
import { expectProblem, register } from './support/rest.ts'

onServer('going back to a version', (server) => {
  const get = (path: string) => server().request('GET', path)
  const rename = (from: string, to: string) => server().request('PATCH', `/tools/${from}`, { body: { name: to } })
  const rollBack = (tool: string, version: number) =>
    server().request('POST', `/tools/${tool}/rollback`, { body: { version } })

  it('gives a tool the name back that it had', async () => {
    const { id } = await register(server(), 'first_name')
    expect((await rename('first_name', 'second_name')).body).toMatchObject({ id, version: 2 })
    expect((await rollBack('second_name', 1)).body).toMatchObject({ id, name: 'first_name', version: 3 })
    expectProblem(await get('/tools/second_name'), 404, 'TOOL_NOT_FOUND')
    expect((await get('/tools/first_name/versions')).body.items).toHaveLength(3)
  })

  it('leaves a tool in the category it has where the one it had is gone', async () => {
    const make = async (name: string) => (await server().request('POST', '/categories', { body: { name } })).body.id
    const [gone, stays] = [await make('Gone'), await make('Stays')]
    await register(server(), 'moved', { categoryId: gone, description: 'Before.' })
    await server().request('PATCH', '/tools/moved', { body: { categoryId: stays, description: 'After.' } })
    expect((await server().request('DELETE', '/categories/Gone')).status).toBe(200)
    expect((await rollBack('moved', 1)).body).toMatchObject({ description: 'Before.', categoryId: stays, version: 3 })
    await server().request('PATCH', '/tools/moved', { body: { categoryId: null } })
    expect((await rollBack('moved', 3)).body).toMatchObject({ categoryId: stays })
  })

  it('is refused where another tool has that name now, which is named, and changes nothing', async () => {
    await register(server(), 'wanted', { description: 'The one before.' })
    await rename('wanted', 'moved_on')
    await server().request('PATCH', '/tools/moved_on', { body: { description: 'The one after.' } })
    await register(server(), 'wanted', { description: 'Another.' })
    const refused = await rollBack('moved_on', 1)
    expectProblem(refused, 409, 'NAME_TAKEN')
    expect(refused.body.detail).toBe("moved_on was named 'wanted' in that version, and another tool has this name now.")
    expect(refused.body.hint).toContain("'wanted'")
    expect((await get('/tools/moved_on')).body).toMatchObject({ version: 3, description: 'The one after.' })
    expect((await get('/tools/wanted')).body).toMatchObject({ version: 1, description: 'Another.' })
    expect((await rollBack('moved_on', 2)).body).toMatchObject({ name: 'moved_on', description: 'The one before.' })
  })
})
