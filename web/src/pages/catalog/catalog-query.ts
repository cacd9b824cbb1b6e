import type { OperationInput } from 'tooldex/client'

type Search = OperationInput<'tools.search'>

/** The query of the URL of the catalog. */
export interface CatalogSearch {
  readonly q?: string
  readonly source?: string
  readonly status?: string
  readonly category?: string
  readonly tag?: string
  readonly namespace?: string
  readonly executor?: string
  readonly readiness?: string
  /** The opened and closed categories of the tree. */
  readonly tree?: string
  readonly mode?: string
  readonly view?: string
  readonly why?: string
}

/** The filters that have facets, by their name in the URL. */
export const facetNames = ['source', 'category', 'executor', 'namespace', 'tag', 'readiness'] as const
export type FacetName = (typeof facetNames)[number]

const statuses = ['ACTIVE', 'DRAFT', 'DISABLED', 'DEPRECATED'] as const
const modes = ['hybrid', 'bm25', 'embedding', 'substring'] as const
const list = (text: string | undefined): string[] => (text === undefined || text === '' ? [] : [text])

/** The search of a URL; what is counted and shown of it is added by each request. Values that are none are left out, so that no link makes an error. */
export function toSearch({
  q,
  source,
  status,
  category,
  tag,
  namespace,
  executor,
  readiness,
  mode,
  why,
}: CatalogSearch): Search {
  return {
    query: q ?? '',
    level: 'summary',
    explain: why === '1',
    category: category || null,
    namespace: namespace || null,
    tags: list(tag),
    source: list(source) as Search['source'],
    executor: list(executor) as Search['executor'],
    readiness: list(readiness) as Search['readiness'],
    // An empty array matches every status, and none only active tools.
    ...(status === 'all' ? { status: [] } : {}),
    ...(isOne(statuses, status) ? { status: [status] } : {}),
    ...(isOne(modes, mode) ? { mode } : {}),
  }
}

function isOne<const Value extends string>(values: readonly Value[], text: string | undefined): text is Value {
  return (values as readonly (string | undefined)[]).includes(text)
}

/** Whether a filter is set. */
export const isFiltered = (search: CatalogSearch): boolean =>
  facetNames.some((name) => (search[name] ?? '') !== '') || (search.status ?? '') !== ''
