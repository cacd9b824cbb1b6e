import type { ToolIndexEntry } from '../contract/tool-index.ts'

/** What an answer must be, all of it. */
export interface SearchFilters {
  readonly category?: string | null | undefined
  readonly cli?: string | null | undefined
  readonly namespace?: string | null | undefined
  readonly tags?: readonly string[] | null | undefined
  /** Whether a tool needs all of the tags, as it does by default, or any of them. */
  readonly tagsMatch?: 'all' | 'any' | null | undefined
}

/** Whether a tool passes the filters; an empty one does not filter, case does not count. */
export function acceptsEntry(entry: ToolIndexEntry | undefined, filters: SearchFilters): boolean {
  if (entry === undefined) return false
  const same = (filter: string | null | undefined, value: string | null) =>
    filter == null || filter === '' || filter.toLowerCase() === value?.toLowerCase()
  const hasTag = (tag: string) => entry.tags.some((own) => own.toLowerCase() === tag.toLowerCase())
  const { category, cli, namespace, tags, tagsMatch } = filters
  const source = same(cli, entry.cliName) && same(namespace, entry.cliName)
  return (
    source &&
    same(category, entry.category) &&
    (tags == null || (tagsMatch === 'any' ? tags.some(hasTag) : tags.every(hasTag)))
  )
}

/** How many of some tools have each value, most frequent first. */
export interface Facets {
  readonly category: readonly FacetCount[]
  readonly namespace: readonly FacetCount[]
  readonly tag: readonly FacetCount[]
}

interface FacetCount {
  readonly value: string
  readonly count: number
}

const mostValues = 20

/** Counts what could be filtered by. */
export function countFacets(entries: readonly ToolIndexEntry[]): Facets {
  return {
    category: countValues(entries.flatMap(({ category }) => (category === null ? [] : [category]))),
    namespace: countValues(entries.map(({ cliName }) => cliName)),
    tag: countValues(entries.flatMap(({ tags }) => tags)),
  }
}

function countValues(values: readonly string[]): readonly FacetCount[] {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const rows = Array.from(counts, ([value, count]) => ({ value, count }))
  return rows.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)).slice(0, mostValues)
}
