import * as z from 'zod'
import type { CatalogHit } from '../../catalog/index.ts'
import { SearchFilters } from '../../contract/catalog.ts'
import type { Category } from '../../contract/registry.ts'
import type { OperationContext } from '../operation.ts'

const { source, status, readiness, ...others } = SearchFilters.shape

/** The filters of every list of tools. */
export const stateFilters = { source, status, readiness }

/** The filters of a search: those of the catalog, with one category by name or id that includes its subcategories. */
export const searchFilters = { ...others, category: z.string().nullish(), ...stateFilters }

/** The filters of a surface for the catalog: an empty string does not filter, and a tool needs all of the tags. */
export function toFilters(input: SearchFilters): SearchFilters {
  const { tags, tagsMatch, source, status, readiness } = input
  const [category, cli, namespace] = [input.category || null, input.cli || null, input.namespace || null]
  return { category, cli, namespace, tags, tagsMatch: tagsMatch ?? 'all', source, status, readiness }
}

const FacetCount = z.object({ value: z.string(), count: z.int() })
type FacetCount = z.infer<typeof FacetCount>

/** The number of tools for each value, most frequent first. */
export const Facets = z.object({
  category: z.array(FacetCount),
  namespace: z.array(FacetCount),
  tag: z.array(FacetCount),
  source: z.array(FacetCount),
  status: z.array(FacetCount),
  readiness: z.array(FacetCount),
})
type Facets = z.infer<typeof Facets>

const maxValues = 20

/** Counts the values of every filter. */
export function countFacets(hits: readonly CatalogHit[]): Facets {
  return {
    category: countValues(hits.map(({ tool }) => tool.category)),
    namespace: countValues(hits.map(({ tool }) => tool.namespace)),
    tag: countValues(hits.flatMap(({ tool }) => tool.tags)),
    source: countValues(hits.map(({ source }) => source)),
    status: countValues(hits.map(({ status }) => status)),
    readiness: countValues(hits.map(({ readiness }) => readiness.state)),
  }
}

function countValues(values: readonly (string | undefined)[]): FacetCount[] {
  const counts = new Map<string, number>()
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
  const rows = Array.from(counts, ([value, count]) => ({ value, count }))
  return rows.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)).slice(0, maxValues)
}

/** Extends a category filter by its subcategories, if the registry has a category of this name or id. */
export async function withSubtree(
  filters: SearchFilters,
  context: OperationContext<'registry?'>,
): Promise<SearchFilters> {
  const { category } = filters
  if (typeof category !== 'string' || context.registry === undefined) return filters
  const all = await context.registry.stores.categories.all(context.caller.workspace)
  return { ...filters, category: [category, ...namesBelow(all, category.toLowerCase())] }
}

function namesBelow(all: readonly Category[], wanted: string): readonly string[] {
  const names: string[] = []
  // Names are case-sensitive in the registry, but not in search.
  let level = all.filter(({ id, name }) => id === wanted || name.toLowerCase() === wanted)
  while (level.length > 0) {
    names.push(...level.map(({ name }) => name))
    const above = new Set(level.map(({ id }) => id))
    level = all.filter(({ parentId }) => parentId !== null && above.has(parentId))
  }
  return names
}
