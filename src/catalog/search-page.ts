import { TooldexError } from '../base/errors.ts'
import type { CatalogTool, SearchFilters } from '../contract/catalog.ts'
import type { RankedId, Result, ResultPage } from '../contract/summary.ts'
import type { Entry } from './merge-entry.ts'
import { normalizeTags } from './normalize-tags.ts'
import { type CursorScope, readPageCursor, writePageCursor } from './page-cursor.ts'

/** Ranks the tools that fit a query: the same for the same catalogue version, in any order, filtered or not. */
export type RankTools = (query: string, filters: SearchFilters) => readonly RankedId[]

/** What to search for, and which page of it. */
export interface SearchPageQuery {
  readonly query?: string
  readonly limit?: number
  readonly cursor?: string | undefined
  readonly filters?: SearchFilters
}

/** How many results a page has where nobody says. */
export const defaultLimit = 20

/** A page to cut out of a ranking. */
interface PageRequest {
  readonly rank: () => readonly RankedId[]
  readonly entries: ReadonlyMap<string, Entry>
  readonly filters: SearchFilters
  readonly limit: number
  readonly cursor: string | undefined
  readonly scope: CursorScope
}

/** Cuts a page out of a ranking: best first, then by id. */
export function takePage({ rank, entries, filters, limit, cursor, scope }: PageRequest): ResultPage {
  const offset = cursor === undefined || cursor === '' ? 0 : readPageCursor(cursor, scope)
  const hits = [...keepKnown(rank(), entries, filters).values()].sort(byRank)
  const end = offset + limit
  const results = hits.slice(offset, end).map(({ id, score, scoreType }): Result => {
    const { doc } = entries.get(id) as Entry
    return { summary: doc.summary, score, scoreType }
  })
  return end < hits.length ? { results, nextCursor: writePageCursor(end, scope) } : { results }
}

/** Refuses a limit that no page can have. */
export function checkLimit(limit: number): void {
  if (!(limit > 0)) throw new TooldexError('INPUT_INVALID', 'limit must be positive')
  if (!Number.isSafeInteger(limit)) throw new TooldexError('INPUT_INVALID', 'limit must be a whole number')
}

/** Filters in one spelling: what means the same reads the same. */
export function canonicalFilters({ namespace, category, tags = [] }: SearchFilters): SearchFilters {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(category === undefined ? {} : { category }),
    // Without a letter in them, tags still ask for something, which no tool has.
    ...(tags.length === 0 ? {} : { tags: normalizeTags(tags).sort() }),
  }
}

/** Each tool once at its best, whatever the ranking repeats, invents or does not filter. */
function keepKnown(ranking: readonly RankedId[], entries: ReadonlyMap<string, Entry>, filters: SearchFilters) {
  const kept = new Map<string, RankedId>()
  for (const hit of ranking) {
    const entry = entries.get(hit.id)
    if (entry === undefined || Number.isNaN(hit.score) || !fits(entry.tool, filters)) continue
    const before = kept.get(hit.id)
    if (before === undefined || before.score < hit.score) kept.set(hit.id, hit)
  }
  return kept
}

function fits(tool: CatalogTool, { namespace, category, tags }: SearchFilters): boolean {
  if (namespace !== undefined && (tool.namespace ?? '') !== namespace) return false
  if (category !== undefined && tool.category !== category) return false
  return tags === undefined || tags.some((tag) => tool.tags.includes(tag))
}

function byRank(a: RankedId, b: RankedId): number {
  if (a.score !== b.score) return b.score > a.score ? 1 : -1
  return a.id < b.id ? -1 : 1
}
