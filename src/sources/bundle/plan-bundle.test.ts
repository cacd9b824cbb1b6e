import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Bundle, type BundlePlan, type PlanPart } from '../../contract/bundle.ts'
import { anyBundle } from './any-bundle.suite.ts'
import { sortBundle } from './locate-bundle.ts'
import { planBundle } from './plan-bundle.ts'

interface Named {
  readonly name: string
}

/** What a registry would do with a plan, and nothing beyond it. */
function apply(current: Bundle, wanted: Bundle, plan: BundlePlan): Bundle {
  const known = new Map(current.tools.map((tool) => [tool.name, tool]))
  const settled = wanted.tools.map((tool) => ({
    ...tool,
    status: tool.status ?? known.get(tool.name)?.status ?? ('DRAFT' as const),
  }))
  return sortBundle({
    tooldex: 1,
    tools: applyPart(current.tools, settled, plan),
    categories: applyPart(current.categories, wanted.categories, plan.categories),
    policies: applyPart(current.policies, wanted.policies, plan.policies),
    toolsets: applyPart(current.toolsets, wanted.toolsets, plan.toolsets),
    limits: applyPart(current.limits, wanted.limits, plan.limits),
    sources: applyPart(current.sources, wanted.sources, plan.sources),
  })
}

function applyPart<T extends Named>(current: readonly T[], wanted: readonly T[], plan: PlanPart): T[] {
  const touched = new Set([...plan.create, ...plan.change.map(({ name }) => name)])
  const gone = new Set([...plan.remove, ...touched])
  return [...current.filter(({ name }) => !gone.has(name)), ...wanted.filter(({ name }) => touched.has(name))]
}

/** Two bundles that have some names in common. */
const pair = fc.tuple(anyBundle, anyBundle, fc.boolean()).map(([a, b, mix]) => {
  const mixed = {
    ...b,
    tools: [...b.tools, ...a.tools.filter(({ name }) => !b.tools.some((tool) => tool.name === name))],
  }
  const tools = mixed.tools.map((tool) => ({ ...tool, category: null }))
  return [a, mix ? sortBundle({ ...mixed, tools }) : b] as const
})

const withoutNotes = (bundle: Bundle) =>
  bundle.tools.map(({ changelog: _, ...tool }) => ({ ...tool, status: tool.status ?? 'DRAFT' }))
const nothing = { create: [], change: [], remove: [] }

describe('planBundle', () => {
  it('reaches the wanted state, after which no step is left', async () => {
    await fc.assert(
      fc.asyncProperty(pair, fc.boolean(), async ([current, wanted], prune) => {
        const applied = apply(current, wanted, await planBundle(current, wanted, { prune }))
        expect(await planBundle(applied, wanted, { prune })).toMatchObject({
          ...nothing,
          categories: nothing,
          policies: nothing,
          toolsets: nothing,
          limits: nothing,
          sources: nothing,
        })
        if (!prune) return
        expect(applied.categories).toEqual(wanted.categories)
        expect(applied.policies).toEqual(wanted.policies)
        expect(applied.toolsets).toEqual(wanted.toolsets)
        expect(applied.limits).toEqual(wanted.limits)
        expect(applied.sources).toEqual(wanted.sources)
        const stays = new Map(current.tools.map(({ name, status }) => [name, status]))
        const due = wanted.tools.map((tool) => ({ ...tool, status: tool.status ?? stays.get(tool.name) }))
        expect(JSON.stringify(withoutNotes(applied).map(sortKeys))).toBe(
          JSON.stringify(withoutNotes({ ...wanted, tools: due as Bundle['tools'] }).map(sortKeys)),
        )
      }),
      { numRuns: 150 },
    )
  })

  it('keeps what the files do not name unless it prunes', async () => {
    await fc.assert(
      fc.asyncProperty(pair, async ([current, wanted]) => {
        const kept = apply(current, wanted, await planBundle(current, wanted, { prune: false }))
        const names = new Set([...current.tools, ...wanted.tools].map(({ name }) => name))
        expect(kept.tools.map(({ name }) => name)).toEqual([...names].sort())
      }),
      { numRuns: 50 },
    )
  })

  it('names the fields that differ, in the order of their keys too; a changelog is not a difference', async () => {
    const tool = { name: 'a', displayName: 'A', description: 'B', inputSchema: { type: 'object', title: 'x' } }
    const make = (change: object) => Bundle.parse({ tooldex: 1, tools: [{ ...tool, ...change }] })
    const plan = (before: object, after: object) => planBundle(make(before), make(after), { prune: true })
    expect((await plan({ status: 'ACTIVE' }, { changelog: 'c' })).unchanged).toBe(1)
    expect((await plan({}, { inputSchema: { title: 'x', type: 'object' } })).change).toEqual([
      { name: 'a', fields: ['inputSchema'] },
    ])
    expect((await plan({}, { status: 'DRAFT' })).change).toEqual([])
    expect((await plan({}, { tags: ['x'], status: 'ACTIVE' })).change).toEqual([
      { name: 'a', fields: ['status', 'tags'], status: { from: 'DRAFT', to: 'ACTIVE' } },
    ])
  })

  it('creates parents before children and removes children first', async () => {
    const tree = Bundle.parse({
      tooldex: 1,
      categories: [{ name: 'a', parent: 'b' }, { name: 'b', parent: 'c' }, { name: 'c' }],
    })
    const empty = Bundle.parse({ tooldex: 1 })
    expect((await planBundle(empty, tree, { prune: false })).categories.create).toEqual(['c', 'b', 'a'])
    expect((await planBundle(tree, empty, { prune: true })).categories.remove).toEqual(['a', 'b', 'c'])
    expect((await planBundle(tree, empty, { prune: false })).categories.remove).toEqual([])
  })
})

const sortKeys = (value: object) => Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
