import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invoke } from '../src/operations/invoke.ts'
import { createCategory } from '../src/operations/registry/categories.ts'
import { listForModel } from '../src/operations/registry/definitions.ts'
import { activateTool, createTool, listRegistered } from '../src/operations/registry/tools.ts'
import { searchTools } from '../src/operations/search/search-tools.ts'
import { openRegistry } from './support/open-registry.ts'
import { draft } from './support/rest.ts'

let registry: Awaited<ReturnType<typeof openRegistry>>
let ops: string
beforeAll(async () => {
  registry = await openRegistry()
  const { context } = registry
  const add = (name: string, parentId: string | null) => invoke(createCategory, { name, parentId }, context)
  ops = (await add('ops', null)).id
  const net = await add('net', ops)
  const dns = await add('dns', net.id)
  const other = await add('other', null)
  const tools = { in_ops: ops, in_net: net.id, in_dns: dns.id, in_other: other.id }
  for (const [name, categoryId] of Object.entries(tools)) {
    const tags = name === 'in_ops' ? ['a', 'b'] : name === 'in_net' ? ['a'] : []
    await invoke(createTool, draft(name, { categoryId, tags }), context)
    await invoke(activateTool, { idOrName: name }, context)
  }
  await registry.sync()
})
afterAll(() => registry.close())

const listed = async (category: string) =>
  (await invoke(listRegistered, { category }, registry.context)).items.map(({ name }) => name).sort()
const found = async (input: object) =>
  (await invoke(searchTools, input, registry.context)).results?.map(({ name }) => name).sort()
const offered = async (category: string) =>
  (await invoke(listForModel, { category }, registry.context)).tools.map((tool) => JSON.stringify(tool)).sort()

describe('a category', () => {
  it('includes its subtree, wherever tools are listed', async () => {
    for (const [category, names] of [
      ['ops', ['in_dns', 'in_net', 'in_ops']],
      ['net', ['in_dns', 'in_net']],
      ['other', ['in_other']],
    ] as const) {
      expect(await listed(category)).toEqual(names)
      expect(await found({ category })).toEqual(names)
      expect(await found({ category, query: 'does one thing' })).toEqual(names)
      const texts = await offered(category)
      expect(texts).toHaveLength(names.length)
      for (const name of names) expect(texts.join()).toContain(`"${name}"`)
    }
  })

  it('is found by its id and regardless of case; an unknown one is empty', async () => {
    expect(await found({ category: ops })).toEqual(['in_dns', 'in_net', 'in_ops'])
    expect(await found({ category: 'OPS' })).toEqual(['in_dns', 'in_net', 'in_ops'])
    expect(await found({ category: 'op' })).toEqual([])
  })
})

describe('tags', () => {
  it('match tools with all of them, or with any on request', async () => {
    expect(await found({ tags: ['a', 'b'] })).toEqual(['in_ops'])
    expect(await found({ tags: ['A', 'b'], tagsMatch: 'any' })).toEqual(['in_net', 'in_ops'])
    expect(await found({ tags: ['a'], tagsMatch: null, category: '', namespace: null })).toEqual(['in_net', 'in_ops'])
    const { tools } = await invoke(listForModel, { tags: ['a', 'b'] }, registry.context)
    expect(tools).toHaveLength(1)
  })
})
