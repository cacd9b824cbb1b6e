import * as z from 'zod'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Match } from '../../catalog/index.ts'
import type { Category } from '../../contract/registry.ts'

const FacetCount = z.object({ value: z.string(), count: z.int() })
type FacetCount = z.infer<typeof FacetCount>

const CategoryCount = FacetCount.extend({
  /** The number of tools of the category itself; `count` includes its subcategories, as the filter does. */
  own: z.int(),
  /** The category above it; null at the top. */
  parent: z.string().nullable(),
})
type CategoryCount = z.infer<typeof CategoryCount>

/** The number of tools for each value, most frequent first; a category is after the one above it. */
export const Facets = z.object({
  category: z.array(CategoryCount),
  namespace: z.array(FacetCount),
  tag: z.array(FacetCount),
  source: z.array(FacetCount),
  status: z.array(FacetCount),
  executor: z.array(FacetCount),
  readiness: z.array(FacetCount),
})
export type Facets = z.infer<typeof Facets>

const maxValues = 20
const maxCategories = 200
// Awaiting takes longer than counting one tool.
const matchesPerLook = 64

type Counts = Map<string, number>

/** Counts the values of every filter, in turns with other requests. */
export async function countFacets(
  matches: readonly Match[],
  categories: readonly Category[],
  signal: AbortSignal | undefined,
): Promise<Facets> {
  const counts = {
    category: new Map(),
    namespace: new Map(),
    tag: new Map(),
    source: new Map(),
    status: new Map(),
    executor: new Map(),
    readiness: new Map(),
  } satisfies Record<keyof Facets, Counts>
  const turn = yieldTurns(signal)
  let seen = 0
  for (const { tool, state } of matches) {
    const { source, status, executor, readiness } = state()
    add(counts.category, tool.category)
    add(counts.namespace, tool.namespace)
    for (const tag of tool.tags) add(counts.tag, tag)
    add(counts.source, source)
    add(counts.status, status)
    add(counts.executor, executor)
    add(counts.readiness, readiness.state)
    if (++seen % matchesPerLook === 0) await turn()
  }
  return { ...toFacets(counts), category: toTree(counts.category, parentsOf(categories)) }
}

const toFacets = (counts: Readonly<Record<keyof Facets, Counts>>): Facets =>
  Object.fromEntries(
    Object.entries(counts).map(([name, each]) => [name, toRows(each).slice(0, maxValues)]),
  ) as unknown as Facets

function add(counts: Counts | undefined, value: string | undefined, count = 1): void {
  if (value !== undefined) counts?.set(value, (counts.get(value) ?? 0) + count)
}

/** The counts of two catalogs as one. */
export function mergeFacets(first: Facets, second: Facets): Facets {
  const names = Object.keys(Facets.shape) as (keyof Facets)[]
  const counts = Object.fromEntries(names.map((name) => [name, new Map()])) as unknown as Record<keyof Facets, Counts>
  const [own, parents]: [Counts, Map<string, string | null>] = [new Map(), new Map()]
  for (const facets of [first, second])
    for (const name of names) for (const { value, count } of facets[name]) add(counts[name], value, count)
  for (const row of [...first.category, ...second.category]) {
    add(own, row.value, row.own)
    parents.set(row.value, parents.get(row.value) ?? row.parent)
  }
  return { ...toFacets(counts), category: toTree(own, parents) }
}

const toRows = (counts: Counts): FacetCount[] =>
  Array.from(counts, ([value, count]) => ({ value, count })).sort(byCount)

const byCount = (a: FacetCount, b: FacetCount) => b.count - a.count || (a.value < b.value ? -1 : 1)

/** The name of the category above each category. */
function parentsOf(categories: readonly Category[]): ReadonlyMap<string, string | null> {
  const names = new Map(categories.map(({ id, name }) => [id, name]))
  return new Map(categories.map(({ name, parentId }) => [name, names.get(parentId ?? '') ?? null]))
}

/** The categories with tools, and those above them; the case of names does not matter, as in the filter. */
function toTree(own: ReadonlyMap<string, number>, parents: ReadonlyMap<string, string | null>): CategoryCount[] {
  const nodes = new Map<string, CategoryCount>()
  const nodeOf = (name: string): CategoryCount => {
    const key = name.toLowerCase()
    const node = nodes.get(key) ?? { value: name, count: 0, own: 0, parent: null }
    node.parent ??= parents.get(name) ?? null
    nodes.set(key, node)
    return node
  }
  // Names of the registry first, because those of configs have no place in the tree.
  for (const name of parents.keys()) nodeOf(name)
  const depths = new Map<CategoryCount, number>()
  for (const [name, count] of own) {
    nodeOf(name).own += count
    const path = pathTo(nodeOf(name), nodes)
    for (const [index, node] of path.entries()) {
      node.count += count
      depths.set(node, path.length - index)
    }
  }
  const depthOf = (node: CategoryCount) => depths.get(node) ?? 0
  const counted = [...nodes.values()].filter(({ count }) => count > 0)
  // No category has more tools than the one above it.
  return counted.sort((a, b) => b.count - a.count || depthOf(a) - depthOf(b) || byCount(a, b)).slice(0, maxCategories)
}

/** A category and those above it; names that differ in case only could form a cycle. */
function pathTo(node: CategoryCount, nodes: ReadonlyMap<string, CategoryCount>): readonly CategoryCount[] {
  const path = new Set<CategoryCount>()
  for (let at: CategoryCount | undefined = node; at !== undefined && !path.has(at); ) {
    path.add(at)
    at = at.parent === null ? undefined : nodes.get(at.parent.toLowerCase())
  }
  return [...path]
}
