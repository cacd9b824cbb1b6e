import { expect, it } from 'vitest'
import { hashKey } from '../src/operations/registry/keys.ts'
import { onServer } from './support/each-engine.ts'
import { draft, register } from './support/rest.ts'

interface Row {
  readonly action: string
  readonly subject: string
  readonly actor: string
  readonly before: Record<string, unknown> | null
  readonly after: Record<string, unknown> | null
}

const env = { TOOLDEX_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }

onServer(
  'the record of changes',
  (server) => {
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await server().request(method, path, body === undefined ? {} : { body })
      expect(answer.status, answer.text).toBeLessThan(300)
      return answer.body
    }
    const rowsOf = async (subject: string): Promise<readonly Row[]> =>
      (await ask('GET', `/audit?limit=50&subject=${encodeURIComponent(subject)}`)).items
    const last = async (subject: string) => (await rowsOf(subject))[0]

    it('has what a new tool is, one by one and by import', async () => {
      await register(server(), 'made_tool', { tags: ['x'] })
      await ask('POST', '/bundle', { bundle: { tooldex: 1, tools: [draft('taken_tool', { tags: ['y'] })] } })
      const rest = { description: 'Does one thing.', status: 'DRAFT', version: 1, executorType: 'http' }
      for (const [name, tags] of [
        ['made_tool', ['x']],
        ['taken_tool', ['y']],
      ] as const)
        expect(await rowsOf(`tool:${name}`)).toEqual([
          expect.objectContaining({
            action: 'tool.create',
            before: null,
            after: expect.objectContaining({ ...rest, name, tags }),
          }),
        ])
    })

    it('has a row for each tool that another name of a tag changes', async () => {
      for (const name of ['red_one', 'red_two']) await register(server(), name, { tags: ['red', 'kept'] })
      await ask('POST', '/tags/rename', { from: 'red', to: 'blue' })
      for (const name of ['red_one', 'red_two'])
        expect(await last(`tool:${name}`)).toMatchObject({
          action: 'tool.change',
          before: { tags: ['red', 'kept'], version: 1 },
          after: { tags: ['blue', 'kept'], version: 2 },
        })
    })

    it('has a row for all that moves up when a category goes', async () => {
      const { id: top } = await ask('POST', '/categories', { name: 'top' })
      const { id } = await ask('POST', '/categories', { name: 'going', parentId: top })
      await ask('POST', '/categories', { name: 'child', parentId: id })
      await register(server(), 'moved_tool', { categoryId: id })
      await ask('DELETE', '/categories/going?reparent=true')
      expect(await last('tool:moved_tool')).toMatchObject({
        action: 'tool.change',
        before: { categoryId: id, version: 1 },
        after: { categoryId: top, version: 2 },
      })
      const moved = { action: 'category.change', before: { parentId: id }, after: { parentId: top } }
      expect(await last('category:child')).toMatchObject(moved)
      expect(await last('category:going')).toMatchObject({ action: 'category.delete', before: { name: 'going' } })
    })

    it('has from when a key is revoked, once, and nothing of its secret', async () => {
      const { secret, prefix } = await ask('POST', '/keys', { name: 'gone', scopes: ['read'] })
      const { revokedAt } = await ask('DELETE', '/keys/gone')
      await ask('DELETE', '/keys/gone')
      const rows = (await rowsOf('key:gone')).filter(({ action }) => action === 'key.revoke')
      const key = { name: 'gone', scopes: ['read'], codeMode: false, expiresAt: null }
      expect(rows.map(({ before, after }) => [before, after])).toEqual([
        [
          { ...key, revokedAt: null },
          { ...key, revokedAt },
        ],
      ])
      for (const part of [secret, prefix, hashKey(secret)]) expect(JSON.stringify(rows)).not.toContain(part)
    })

    it('has what was proposed, and what became of it', async () => {
      const { id: toolId } = await register(server(), 'better_tool')
      const change = { description: 'Does it better.' }
      const propose = () => ask('POST', '/tools/better_tool/proposals', { change, reason: 'why' })
      const about = { tool: 'better_tool', toolId }
      const [one, two] = [await propose(), await propose()]
      expect(await last(`proposal:${one.id}`)).toMatchObject({
        action: 'proposal.create',
        before: null,
        after: { ...about, status: 'OPEN', baseVersion: 1, change, reason: 'why' },
      })
      await ask('POST', `/proposals/${two.id}/refuse`, { note: 'no' })
      expect(await last(`proposal:${two.id}`)).toMatchObject({
        action: 'proposal.refuse',
        before: { ...about, status: 'OPEN', baseVersion: 1 },
        after: { ...about, status: 'REFUSED', change, note: 'no' },
      })
      await ask('POST', `/proposals/${one.id}/accept`, {})
      expect(await last(`proposal:${one.id}`)).toMatchObject({
        action: 'proposal.accept',
        before: { ...about, status: 'OPEN' },
        after: { ...about, status: 'ACCEPTED', change, version: 2 },
      })
    })

    it('calls going back what it is', async () => {
      await register(server(), 'back_tool')
      await ask('PATCH', '/tools/back_tool', { description: 'Another.' })
      await ask('POST', '/tools/back_tool/rollback', { version: 1 })
      const [back, changed] = await rowsOf('tool:back_tool')
      expect(changed).toMatchObject({
        action: 'tool.change',
        before: { description: 'Does one thing.', version: 1 },
        after: { description: 'Another.', version: 2 },
      })
      expect(back).toMatchObject({
        action: 'tool.rollback',
        before: { description: 'Another.', version: 2 },
        after: { description: 'Does one thing.', version: 3, backTo: 1 },
      })
    })

    it('has when a secret was put and removed, and never what it is', async () => {
      for (const value of ['first-value', 'other-value']) await ask('PUT', '/secrets/TOKEN', { value })
      await ask('DELETE', '/secrets/TOKEN')
      const rows = await rowsOf('secret:TOKEN')
      expect(rows.map(({ action, before, after }) => [action, before?.name, after?.name])).toEqual([
        ['secret.remove', 'TOKEN', undefined],
        ['secret.put', 'TOKEN', 'TOKEN'],
        ['secret.put', undefined, 'TOKEN'],
      ])
      expect(JSON.stringify(rows)).not.toMatch(/value|sealed/)
    })
  },
  { env },
)
