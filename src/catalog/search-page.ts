import { TooldexError } from '../base/errors.ts'
import type { Backend, CatalogTool, CatalogView, SearchFilters } from '../contract/catalog.ts'
import type { RankedTool, Ranker, Result, SearchMode } from '../contract/search.ts'
import { type Readiness, type ToolSource, type ToolStatus, unlessReady } from '../contract/tool-state.ts'
import { type CursorScope, readPageCursor, writePageCursor } from './page-cursor.ts'
import { type CanonicalFilters, passes, sourceOf, type ToolFacts, toolStatusOf } from './tool-filters.ts'
import type { CatalogEntry } from './with-backend.ts'

/** A query, and the page to return. */
export interface SearchPageQuery {
  readonly query?: string
  readonly limit?: number
  readonly cursor?: string | undefined
  readonly filters?: SearchFilters
  /** The ranking mode, for a ranker with several. */
  readonly mode?: SearchMode | undefined
  /** The minimum score, for a ranker whose scores are probabilities. */
  readonly minScore?: number | undefined
  /** Learned boosts by tool id. */
  readonly learned?: ReadonlyMap<string, number> | undefined
  /** The view of the caller; without it, all tools are visible. */
  readonly view?: CatalogView | undefined
}

/** The default page size. */
export const defaultLimit = 20

/** A found tool. */
export interface CatalogHit {
  readonly id: string
  readonly tool: CatalogTool
  readonly source: ToolSource
  readonly status: ToolStatus
  readonly readiness: Readiness
  readonly score: number
  readonly scoreType: SearchMode
}

/** One page of hits, for a caller that may return fewer of them. */
export interface CatalogPage {
  readonly hits: readonly CatalogHit[]
  readonly offset: number
  /** The number of matching tools. */
  readonly total: number
  /** The cursor after the first `count` hits; undefined if nothing follows. */
  cursorAfter(count: number): string | undefined
}

/** The data that pages are computed from. */
export interface SearchScope {
  readonly ranker: Ranker
  readonly entries: ReadonlyMap<string, CatalogEntry>
  /** Whether no tool is hidden by its status. */
  readonly allActive: () => boolean
  readonly backendOf: (entry: CatalogEntry) => Backend
  readonly readinessOf: (tool: CatalogTool, backend: Backend) => Readiness
}

/** A query with canonical filters. */
export interface PageRequest extends SearchPageQuery {
  readonly query: string
  readonly limit: number
  readonly filters: CanonicalFilters
  /** Computed only if a cursor is read or written. */
  readonly scope: () => CursorScope
}

/** Returns a page in the order of the ranker. */
export function findPage(whole: SearchScope, request: PageRequest): CatalogPage {
  const { query, limit, cursor, filters, mode, minScore, learned, scope, view } = request
  const visible = view === undefined ? whole : seenBy(whole, view)
  const offset = cursor === undefined || cursor === '' ? 0 : readPageCursor(cursor, scope())
  const accept = acceptOf(visible, filters, view)
  const ranked = visible.ranker.search({ query, offset, limit, accept, mode, minScore, learned })
  const hits = ranked.hits.flatMap((hit) => toHit(visible, hit))
  // A page that is not full is the last one, however many hits were cut off by the minimum score.
  const total = hits.length < limit ? offset + hits.length : ranked.total
  const cursorAfter = (count: number) => (offset + count < total ? writePageCursor(offset + count, scope()) : undefined)
  return { hits, offset, total, cursorAfter }
}

/** A hit in the result format. */
export function toResult({ id, readiness, score, scoreType }: CatalogHit, entries: SearchScope['entries']): Result {
  const { doc } = entries.get(id) as CatalogEntry
  return { summary: { ...doc.summary, ...unlessReady(readiness) }, score, scoreType }
}

/** Rejects an invalid page size. */
export function checkLimit(limit: number): void {
  if (!(limit > 0)) throw new TooldexError('INPUT_INVALID', 'limit must be positive')
  if (!Number.isSafeInteger(limit)) throw new TooldexError('INPUT_INVALID', 'limit must be an integer')
}

/** Undefined if the filters exclude nothing: evaluating them for many tools takes longer than ranking. */
function acceptOf(scope: SearchScope, filters: CanonicalFilters, view: CatalogView | undefined) {
  const { status, ...others } = filters
  const everyStatus = status === undefined || (status.includes('ACTIVE') && scope.allActive())
  if (everyStatus && Object.keys(others).length === 0 && view === undefined) return undefined
  const facts = factsOf(scope)
  return ({ id }: { readonly id: string }) => {
    const entry = scope.entries.get(id)
    return entry !== undefined && (view?.sees(entry.tool) ?? true) && passes(entry, filters, facts)
  }
}

/** The entries, restricted to those visible to the caller. */
const seenBy = (scope: SearchScope, view: CatalogView): SearchScope => ({
  ...scope,
  readinessOf: (tool, backend) => view.readinessOf(tool, scope.readinessOf(tool, backend)),
})

const factsOf = ({ backendOf, readinessOf }: SearchScope): ToolFacts<CatalogEntry> => ({
  sourceOf: (entry) => sourceOf(entry.tool, backendOf(entry)),
  stateOf: (entry) => readinessOf(entry.tool, backendOf(entry)).state,
})

/** The ranker may still return a tool that the catalog has removed. */
function toHit(scope: SearchScope, { tool: { id }, score, scoreType }: RankedTool): CatalogHit[] {
  const entry = scope.entries.get(id)
  if (entry === undefined) return []
  const { tool } = entry
  const backend = scope.backendOf(entry)
  const readiness = scope.readinessOf(tool, backend)
  return [{ id, tool, source: sourceOf(tool, backend), status: toolStatusOf(tool), readiness, score, scoreType }]
}
