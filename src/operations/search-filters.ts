import type { ToolIndexEntry } from '../contract/tool-index.ts'

/** What an answer must be, all of it. */
export interface SearchFilters {
  readonly category?: string | null | undefined
  readonly cli?: string | null | undefined
  readonly namespace?: string | null | undefined
  readonly tags?: readonly string[] | null | undefined
}

/** Whether a tool passes the filters; an empty one does not filter, case does not count. */
export function acceptsEntry(entry: ToolIndexEntry | undefined, filters: SearchFilters): boolean {
  if (entry === undefined) return false
  const same = (filter: string | null | undefined, value: string | null) =>
    filter == null || filter === '' || filter.toLowerCase() === value?.toLowerCase()
  const hasTag = (tag: string) => entry.tags.some((own) => own.toLowerCase() === tag.toLowerCase())
  const { category, cli, namespace, tags } = filters
  const source = same(cli, entry.cliName) && same(namespace, entry.cliName)
  return source && same(category, entry.category) && (tags == null || tags.every(hasTag))
}
