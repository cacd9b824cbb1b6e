import * as z from 'zod'
import type { CatalogHit } from '../../catalog/index.ts'
import type { SearchFilters } from '../../contract/catalog.ts'
import { ReadinessState, ToolSource, ToolStatus } from '../../contract/tool-state.ts'

/** The filters that every list of tools takes: one of the words is enough. */
export const stateFilters = {
  source: z.array(ToolSource).nullish(),
  /** Only active tools where absent; an empty list leaves none out. */
  status: z.array(ToolStatus).nullish(),
  readiness: z.array(ReadinessState).nullish(),
}

/** The filters of a search; an empty text or list does not filter. */
export const searchFilters = {
  /** The name or id of a category; those below it count too. */
  category: z.string().nullish(),
  cli: z.string().nullish(),
  namespace: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  /** Whether a tool needs all of the tags, as it does by default, or any of them. */
  tagsMatch: z.enum(['all', 'any']).nullish(),
  ...stateFilters,
}

const Given = z.object(searchFilters)
type Given = Partial<z.infer<typeof Given>>

/** What a caller gave, as the catalog reads it. */
export function toFilters({
  category,
  cli,
  namespace,
  tags,
  tagsMatch,
  source,
  status,
  readiness,
}: Given): SearchFilters {
  return {
    ...(category ? { category } : {}),
    ...(cli ? { cli } : {}),
    ...(namespace ? { namespace } : {}),
    ...(tags ? { tags, tagsMatch: tagsMatch ?? 'all' } : {}),
    ...(source ? { source } : {}),
    ...(status ? { status } : {}),
    ...(readiness ? { readiness } : {}),
  }
}

const FacetCount = z.object({ value: z.string(), count: z.int() })
type FacetCount = z.infer<typeof FacetCount>

/** How many of some tools have each value, most frequent first. */
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

/** Counts what could be filtered by. */
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
