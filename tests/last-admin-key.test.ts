import { expect, it } from 'vitest'
import { onEachEngine } from './support/each-engine.ts'
import { expectProblem } from './support/rest.ts'
import { runInline } from './support/run-here.ts'

onEachEngine('the last admin key', (server, database) => {
  const revoke = (name: string, key = server().key) => server().request('DELETE', `/keys/${name}`, { key })
  const make = async (name: string, lastsMs?: number) => {
    const expiresAt = lastsMs === undefined ? {} : { expiresAt: new Date(Date.now() + lastsMs).toISOString() }
    const answer = await server().request('POST', '/keys', { body: { name, scopes: ['admin'], ...expiresAt } })
    expect(answer.status, answer.text).toBe(201)
    return answer.body.secret as string
  }
  const lasting = async () => {
    const { items } = (await server().request('GET', '/keys')).body
    return items.find(
      (key: { expiresAt: string | null; revokedAt: string | null }) => key.expiresAt === null && key.revokedAt === null,
    ).name as string
  }
  const env = () => ({
    TOOLDEX_HOME: server().home,
    TOOLDEX_API_KEY: 'a-key-that-nobody-made',
    TOOLDEX_URL: undefined,
    DATABASE_URL: database(),
  })

  it('is kept where all others expire', async () => {
    const [first, shortLived] = [await lasting(), await make('short', 10_000)]
    const refused = await revoke(first, shortLived)
    expectProblem(refused, 409, 'IN_USE')
    expect(refused.body.detail).toContain(`${first} is the last admin key that does not expire (short at `)
    expect(refused.body.hint).toContain('stop the server')
    await expect.poll(async () => (await server().request('GET', '/keys', { key: shortLived })).status).toBe(401)
    expectProblem(await revoke(first), 409, 'IN_USE')
    expect((await server().request('GET', '/keys')).status).toBe(200)
  })

  it('is kept under any spelling of its id, and where two revoke each other at once', async () => {
    const { items } = (await server().request('GET', '/keys')).body
    const { id } = items.find(({ name }: { name: string }) => name === 'admin')
    expectProblem(await revoke(id.toUpperCase()), 409, 'IN_USE')
    const makePair = (name: string) =>
      server().request('POST', '/keys', { body: { name, scopes: ['admin'], workspace: 'pair' } })
    const [left, right] = [(await makePair('left')).body.secret, (await makePair('right')).body.secret]
    const answers = await Promise.all([revoke('left', right), revoke('right', left)])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const kept = [left, right].map(async (key) => (await server().request('POST', '/keys', { key, body: {} })).status)
    expect((await Promise.all(kept)).sort()).toEqual([401, 422])
  })

  it('is not one that expires beside it, nor one of two that last', async () => {
    const first = await lasting()
    await make('passing', 600_000)
    expect((await revoke('passing')).status).toBe(200)
    await make('second')
    expect((await revoke('second')).status).toBe(200)
    expect(await lasting()).toBe(first)
  })

  it('can be made anew on the database of a stopped server, as a refused command says', async () => {
    const { code, stderr } = await runInline(['tools', 'list', '--server', server().url], { env: env() })
    expect(code).toBe(6)
    expect(stderr).toContain('stop the server and run tooldex keys create NAME --scope admin on its database')
    await server().stop()
    const made = await runInline(['keys', 'create', 'back_in', '--scope', 'admin'], { env: env() })
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^tdx_/)])
  })
})
