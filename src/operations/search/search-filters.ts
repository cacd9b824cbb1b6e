import * as z from 'zod'
import type { CatalogHit } from '../../catalog/index.ts'
import type { SearchFilters } from '../../contract/catalog.ts'
import { ReadinessState, ToolSource, ToolStatus } from '../../contract/tool-state.ts'

/** The filters of every list of tools; one matching value is enough. */
export const stateFilters = {
  source: z.array(ToolSource).nullish(),
  /** Only active tools if absent; an empty array excludes none. */
  status: z.array(ToolStatus).nullish(),
  readiness: z.array(ReadinessState).nullish(),
}

/** The filters of a search; an empty string or array does not filter. */
export const searchFilters = {
  /** The name or id of a category; its subcategories are included. */
  category: z.string().nullish(),
  cli: z.string().nullish(),
  namespace: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  /** Whether a tool needs all of the tags (the default) or any of them. */
  tagsMatch: z.enum(['all', 'any']).nullish(),
  ...stateFilters,
}

const Given = z.object(searchFilters)
type Given = Partial<z.infer<typeof Given>>

/** Converts the input of a caller to the filters of the catalog. */
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
