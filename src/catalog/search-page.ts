import { TooldexError } from '../base/errors.ts'
import type { Backend, CatalogTool, CatalogView, SearchFilters } from '../contract/catalog.ts'
import type { RankedTool, Ranker } from '../contract/ranker.ts'
import type { SearchMode } from '../contract/search.ts'
import type { Result } from '../contract/summary.ts'
import { type Readiness, type ToolSource, type ToolStatus, unlessReady } from '../contract/tool-state.ts'
import type { CatalogEntry } from './merge-entry.ts'
import { type CursorScope, readPageCursor, writePageCursor } from './page-cursor.ts'
import { passes, sourceOf, type ToolFacts, toolStatusOf } from './tool-filters.ts'

/** What to search for, and which page of it. */
export interface SearchPageQuery {
  readonly query?: string
  readonly limit?: number
  readonly cursor?: string | undefined
  readonly filters?: SearchFilters
  /** How to rank, for a ranker that knows several ways. */
  readonly mode?: SearchMode | undefined
  /** Leaves out what is less likely than this, for a ranker whose scores say so. */
  readonly minScore?: number | undefined
  /** What experience adds, by tool id. */
  readonly learned?: ReadonlyMap<string, number> | undefined
  /** Whose search it is; all tools are seen where absent. */
  readonly view?: CatalogView | undefined
}

/** How many results a page has where nobody says. */
export const defaultLimit = 20

/** A tool that was found, whole. */
export interface CatalogHit {
  readonly id: string
  readonly tool: CatalogTool
  readonly source: ToolSource
  readonly status: ToolStatus
  readonly readiness: Readiness
  readonly score: number
  readonly scoreType: SearchMode
}

/** One page of what was found, for a caller who may show less of it than it holds. */
export interface CatalogPage {
  readonly hits: readonly CatalogHit[]
  readonly offset: number
  /** How many fit in all. */
  readonly total: number
  /** Where to go on after the first `count` hits; undefined where nothing follows. */
  cursorAfter(count: number): string | undefined
}

/** What a page is cut out of. */
export interface SearchScope {
  readonly ranker: Ranker
  readonly entries: ReadonlyMap<string, CatalogEntry>
  /** Whether no tool is hidden by its status. */
  readonly allActive: () => boolean
  readonly backendOf: (entry: CatalogEntry) => Backend
  readonly readinessOf: (tool: CatalogTool, backend: Backend) => Readiness
}

/** What is asked, with its filters in one spelling. */
export interface PageRequest extends SearchPageQuery {
  readonly query: string
  readonly limit: number
  readonly filters: SearchFilters
  /** Worked out only where a cursor is read or written. */
  readonly scope: () => CursorScope
}

/** Finds a page in the order of the ranker. */
export function findPage(whole: SearchScope, request: PageRequest): CatalogPage {
  const { query, limit, cursor, filters, mode, minScore, learned, scope, view } = request
  const ground = view === undefined ? whole : seenBy(whole, view)
  const offset = cursor === undefined || cursor === '' ? 0 : readPageCursor(cursor, scope())
  const accept = acceptOf(ground, filters, view)
  const ranked = ground.ranker.search({ query, offset, limit, accept, mode, minScore, learned })
  const hits = ranked.hits.flatMap((hit) => toHit(ground, hit))
  // A page that is not full is the last one, however many came before the least score was asked for.
  const total = hits.length < limit ? offset + hits.length : ranked.total
  const cursorAfter = (count: number) => (offset + count < total ? writePageCursor(offset + count, scope()) : undefined)
  return { hits, offset, total, cursorAfter }
}

/** A hit as the seeds show it. */
export function toResult({ id, readiness, score, scoreType }: CatalogHit, entries: SearchScope['entries']): Result {
  const { doc } = entries.get(id) as CatalogEntry
  return { summary: { ...doc.summary, ...unlessReady(readiness) }, score, scoreType }
}

/** Refuses a limit that no page can have. */
export function checkLimit(limit: number): void {
  if (!(limit > 0)) throw new TooldexError('INPUT_INVALID', 'limit must be positive')
  if (!Number.isSafeInteger(limit)) throw new TooldexError('INPUT_INVALID', 'limit must be an integer')
}

/** Undefined where the filters leave nothing out: asking it of each of many tools takes longer than ranking them. */
function acceptOf(ground: SearchScope, filters: SearchFilters, view: CatalogView | undefined) {
  const { status, ...others } = filters
  const everyStatus = status === undefined || (status.includes('ACTIVE') && ground.allActive())
  if (everyStatus && Object.keys(others).length === 0 && view === undefined) return undefined
  const facts = factsOf(ground)
  return ({ id }: { readonly id: string }) => {
    const entry = ground.entries.get(id)
    return entry !== undefined && (view?.sees(entry.tool) ?? true) && passes(entry, filters, facts)
  }
}

/** The same tools, with what stands in the way of this caller. */
const seenBy = (ground: SearchScope, view: CatalogView): SearchScope => ({
  ...ground,
  readinessOf: (tool, backend) => view.readinessOf(tool, ground.readinessOf(tool, backend)),
})

const factsOf = ({ backendOf, readinessOf }: SearchScope): ToolFacts<CatalogEntry> => ({
  sourceOf: (entry) => sourceOf(entry.tool, backendOf(entry)),
  stateOf: (entry) => readinessOf(entry.tool, backendOf(entry)).state,
})

/** A ranker may still know a tool that the catalog let go. */
function toHit(ground: SearchScope, { tool: { id }, score, scoreType }: RankedTool): CatalogHit[] {
  const entry = ground.entries.get(id)
  if (entry === undefined) return []
  const { tool } = entry
  const backend = ground.backendOf(entry)
  const readiness = ground.readinessOf(tool, backend)
  return [{ id, tool, source: sourceOf(tool, backend), status: toolStatusOf(tool), readiness, score, scoreType }]
}
