import { expect, it } from 'vitest'
import { createStores } from '../src/storage/index.ts'
import { onServer } from './support/each-engine.ts'
import { openMigrated } from './support/migrated-database.ts'
import { draft, expectProblem, register } from './support/rest.ts'
import { runInline } from './support/run-here.ts'

const odd = 'odd\u001b[31m\r\nname\u202e'

/** A category from the time when any name was taken. */
async function addOdd(where: { url?: string | undefined; home: string }): Promise<void> {
  const database = await openMigrated(where)
  await createStores(database).categories.create({ workspace: 'default', actor: 'test' }, { name: odd })
  await database.close()
}

onServer(
  'categories and tags',
  (server) => {
    const post = (path: string, body: object) => server().request('POST', path, { body })
    const chain = (prefix: string, length: number) =>
      Array.from({ length }, (_, index) => ({
        name: `${prefix} ${index}`,
        ...(index === 0 ? {} : { parent: `${prefix} ${index - 1}` }),
      }))
    const bundle = (categories: readonly object[], more: object = {}) =>
      post('/bundle', { bundle: { tooldex: 1, categories }, ...more })
    const idOf = async (name: string): Promise<string> =>
      (await server().request('GET', `/categories/${encodeURIComponent(name)}`)).body.id

    it('nest fifty levels deep and no deeper, however they get there', async () => {
      expect((await bundle(chain('deep', 50))).status).toBe(200)
      const tooDeep = await bundle(chain('too', 51), { dryRun: true })
      expectProblem(tooDeep, 422, 'BUNDLE_INVALID')
      expect(tooDeep.body.errors).toMatchObject([{ pointer: '/bundle/categories/50/parent' }])
      expect(tooDeep.text).toContain('50 levels')
      const made = await post('/categories', { name: 'below', parentId: await idOf('deep 49') })
      expectProblem(made, 422, 'INPUT_INVALID')
      expect(made.body.errors).toMatchObject([{ pointer: '/parentId' }])
      expect((await post('/categories', { name: 'beside', parentId: await idOf('deep 48') })).status).toBe(201)
      expect((await bundle(chain('two', 2))).status).toBe(200)
      const move = async (to: string) =>
        server().request('PATCH', '/categories/two%200', { body: { parentId: await idOf(to) } })
      expectProblem(await move('deep 48'), 422, 'INPUT_INVALID')
      expect((await move('deep 47')).status).toBe(200)
      expect((await server().request('GET', '/categories/tree')).status).toBe(200)
    })

    it('are not moved too deep by a bundle that does not know of those below', async () => {
      expect((await bundle(chain('known', 49))).status).toBe(200)
      expect((await bundle(chain('unknown', 2))).status).toBe(200)
      const refused = await bundle([...chain('known', 49), { name: 'unknown 0', parent: 'known 48' }])
      expectProblem(refused, 422, 'INPUT_INVALID')
      expect(refused.body.detail).toContain('50 levels')
      expect((await server().request('GET', '/categories/unknown%200')).body.parentId).toBeNull()
    })

    it('can be inverted by one bundle', async () => {
      expect((await bundle(chain('turned', 3))).status).toBe(200)
      const turned = [
        { name: 'turned 2' },
        { name: 'turned 1', parent: 'turned 2' },
        { name: 'turned 0', parent: 'turned 1' },
      ]
      expect((await bundle(turned)).status).toBe(200)
      expect((await server().request('GET', '/categories/turned%200')).body.parentId).toBe(await idOf('turned 1'))
    })

    it('have printable names', async () => {
      const id = '0d5c1b7e-98c2-4f19-8f3b-0a2b6a1f3c11'
      for (const name of [
        'tree',
        id,
        id.toUpperCase(),
        'two\nlines',
        'tab\tbed',
        'red\u001b[31m',
        'a\u202eb',
        'a\u200b',
      ]) {
        const made = await post('/categories', { name })
        expectProblem(made, 422, 'INPUT_INVALID')
        expect(made.body.errors).toMatchObject([{ pointer: '/name' }])
        const imported = await bundle([{ name }])
        expectProblem(imported, 422, 'BUNDLE_INVALID')
        expect(imported.body.errors).toMatchObject([{ pointer: '/bundle/categories/0/name' }])
      }
      expect((await post('/categories', { name: 'Tree' })).status).toBe(201)
      const renamed = await server().request('PATCH', '/categories/Tree', { body: { name: 'tree' } })
      expectProblem(renamed, 422, 'INPUT_INVALID')
      const named = 'name: odd\ncommand: echo\ncategory: tree\ntools: [{name: say, description: d}]\n'
      expectProblem(await post('/bundle', { text: named, file: 'odd.yaml' }), 422, 'BUNDLE_INVALID')
    })

    it('are shown by the command line without what a terminal would act on', async () => {
      const env = { TOOLDEX_API_KEY: server().key }
      const tree = await runInline(['categories', 'tree', '--server', server().url], { env })
      expect(tree.stdout).toContain('odd\\u{1b}[31m\\r\\nname\\u{202e} (0)\n')
      const words = ['categories', 'edit', odd, '--description', 'x', '--server', server().url]
      expect((await runInline(words, { env })).stdout).toBe('odd\\u{1b}[31m\\r\\nname\\u{202e} is changed.\n')
    })

    it('are many, and made in one go', async () => {
      const flat = Array.from({ length: 1500 }, (_, index) => ({ name: `many ${index}` }))
      const nested = Array.from({ length: 30 }, (_, index) => chain(`nest ${index}`, 50)).flat()
      const answer = await bundle([...flat, ...nested])
      expect(answer.status, answer.text.slice(0, 500)).toBe(200)
      expect(answer.body.plan.categories.create).toHaveLength(3000)
      expect(await idOf('nest 7 49')).toMatch(/-/)
      const { items } = (await server().request('GET', '/audit?subject=category:nest%207%2049')).body
      expect(items).toMatchObject([{ action: 'category.create', after: { parentId: await idOf('nest 7 48') } }])
    })

    it('report an unknown parent at its field', async () => {
      const parentId = '0d5c1b7e-98c2-4f19-8f3b-0a2b6a1f3c11'
      await post('/categories', { name: 'orphan' })
      for (const answer of [
        await post('/categories', { name: 'astray', parentId }),
        await server().request('PATCH', '/categories/orphan', { body: { parentId } }),
      ]) {
        expectProblem(answer, 422, 'INPUT_INVALID')
        expect(answer.body.errors).toMatchObject([{ pointer: '/parentId' }])
      }
    })

    it('contain and count a tag once', async () => {
      const tags = ['only', ' only', 'only']
      expect((await register(server(), 'tagged_once', { tags })).tags).toEqual(['only'])
      const changed = await server().request('PATCH', '/tools/tagged_once', { body: { tags: ['only', 'new', 'only'] } })
      expect(changed.body).toMatchObject({ version: 2, tags: ['only', 'new'] })
      expect((await post('/bundle', { bundle: { tooldex: 1, tools: [draft('tagged_too', { tags })] } })).status).toBe(
        200,
      )
      expect((await server().request('GET', '/tools/tagged_too')).body.tags).toEqual(['only'])
      const { id } = (await post('/tools/tagged_too/proposals', { change: { tags: ['twice', 'twice'] } })).body
      expect((await post(`/proposals/${id}/accept`, {})).body.tool.tags).toEqual(['twice'])
      const { items } = (await server().request('GET', '/tags')).body
      expect(items).toEqual([
        { tag: 'new', tools: 1 },
        { tag: 'only', tools: 1 },
        { tag: 'twice', tools: 1 },
      ])
    })

    it('reject the renaming of an unknown tag', async () => {
      const answer = await post('/tags/rename', { from: 'nobodys', to: 'other' })
      expectProblem(answer, 404, 'NOT_FOUND')
      expect(answer.body.detail).toContain('nobodys')
    })
  },
  { prepare: addOdd },
)
