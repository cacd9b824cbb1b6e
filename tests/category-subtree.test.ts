import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invoke } from '../src/operations/invoke.ts'
import { createCategory } from '../src/operations/registry/categories.ts'
import { listForModel } from '../src/operations/registry/definitions.ts'
import { activateTool, createTool, listRegistered } from '../src/operations/registry/tools.ts'
import { mergeFacets } from '../src/operations/search/facets.ts'
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

describe('the facet of categories', () => {
  const facetOf = async (input: object) =>
    (await invoke(searchTools, { facets: true, limit: 0, ...input }, registry.context)).facets?.category
  const [below, leaf] = [
    { value: 'net', count: 2, own: 1, parent: 'ops' },
    { value: 'dns', count: 1, own: 1, parent: 'net' },
  ]

  it('is a tree whose counts are those of the filter, from the top', async () => {
    const other = { value: 'other', count: 1, own: 1, parent: null }
    const all = [{ value: 'ops', count: 3, own: 1, parent: null }, below, other, leaf]
    expect(await facetOf({})).toEqual(all)
    for (const { value, count } of all) expect(await found({ category: value })).toHaveLength(count)
  })

  it('keeps those above a category with tools, and leaves out those without', async () => {
    expect(await facetOf({ tags: ['b'] })).toEqual([{ value: 'ops', count: 1, own: 1, parent: null }])
    expect(await facetOf({ query: 'in_dns', mode: 'substring' })).toEqual([
      { value: 'ops', count: 1, own: 0, parent: null },
      { ...below, count: 1, own: 0 },
      leaf,
    ])
  })

  it('merges the trees of two catalogs, whatever the case of their names', () => {
    const none = { namespace: [], tag: [], source: [], status: [], executor: [], readiness: [] }
    const tree = [{ value: 'ops', count: 2, own: 0, parent: null }, below, leaf]
    const merged = mergeFacets(
      { ...none, category: [{ value: 'Net', count: 4, own: 4, parent: null }], tag: [{ value: 'a', count: 1 }] },
      { ...none, category: tree, tag: [{ value: 'a', count: 2 }] },
    )
    expect(merged.tag).toEqual([{ value: 'a', count: 3 }])
    expect(merged.category.map(({ count, own }) => [count, own])).toEqual([
      [6, 0],
      [6, 5],
      [1, 1],
    ])
  })
})

describe('the filter by executor', () => {
  it('finds the tools that a kind of executor runs, and counts them', async () => {
    expect(await found({ executor: ['http'] })).toEqual(['in_dns', 'in_net', 'in_ops', 'in_other'])
    expect(await found({ executor: ['python', 'shell'], query: 'does one thing' })).toEqual([])
    const { facets } = await invoke(searchTools, { facets: true, limit: 0 }, registry.context)
    expect(facets?.executor).toEqual([{ value: 'http', count: 4 }])
    await expect(invoke(searchTools, { executor: ['perl'] }, registry.context)).rejects.toMatchObject({
      code: 'INPUT_INVALID',
    })
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
