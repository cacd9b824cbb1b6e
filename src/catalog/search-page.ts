import { TooldexError } from '../base/errors.ts'
import {
  type CatalogTool,
  type CatalogView,
  isCallableIn,
  type Readiness,
  ready,
  type SearchFilters,
  type ToolSource,
  type ToolStatus,
  unlessReady,
} from '../contract/catalog.ts'
import type { RunnableTool } from '../contract/executor.ts'
import type { ExecutorKindName } from '../contract/executor-kinds.ts'
import type { Fit, RankedPage, RankedTool, RankQuery, Result, SearchMode } from '../contract/search.ts'
import { type CatalogEntry, selectOrigin } from './catalog-entry.ts'
import type { CatalogOptions } from './catalog-options.ts'
import { type CursorScope, writePageCursor } from './page-cursor.ts'
import {
  type CanonicalFilters,
  type EntryFacts,
  executorOf,
  passesFilters,
  sourceOf,
  toolStatusOf,
} from './tool-filters.ts'

/** A query, and the page to return. */
export interface SearchPageQuery {
  readonly query?: string
  readonly limit?: number
  readonly cursor?: string | undefined
  /** The number of hits to skip; not together with a cursor. */
  readonly offset?: number
  readonly filters?: SearchFilters
  /** The ranking mode, for a ranker with several. */
  readonly mode?: SearchMode | undefined
  /** The minimum score, for a ranker whose scores are probabilities. */
  readonly minScore?: number | undefined
  /** Learned boosts by tool id. */
  readonly learned?: ReadonlyMap<string, number> | undefined
  /** The view of the caller; without it, all tools are visible. */
  readonly view?: CatalogView | undefined
  /** Called with every matching tool, in no order. */
  readonly onMatch?: ((match: Match) => void) | undefined
}

/** A matching tool, whose state is computed when it is read. */
export interface Match {
  readonly tool: CatalogTool
  state(): MatchState
}

/** What the filters of a search compare besides the fields of a tool. */
interface MatchState {
  readonly source: ToolSource
  readonly status: ToolStatus
  readonly executor: ExecutorKindName | undefined
  readonly readiness: Readiness
}

/** The default page size. */
export const defaultLimit = 20

/** A found tool. */
export interface CatalogHit {
  readonly id: string
  readonly tool: CatalogTool
  /** The form for executors, of a tool of a config or the registry. */
  readonly runnable?: RunnableTool | undefined
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
  /** The verdict of the ranker; absent without a query, or from a ranker without verdicts. */
  readonly fit?: Fit | undefined
  /** The cursor after the first `count` hits; undefined if nothing follows. */
  cursorAfter(count: number): string | undefined
}

/** The page of a ranking; a page that is not full is the last one, however many hits were cut off by the minimum score. */
export function toSearchPage(
  hits: readonly CatalogHit[],
  { offset, limit, total: ranked, fit }: Pick<CatalogPage, 'offset' | 'total' | 'fit'> & { readonly limit: number },
  scope: () => CursorScope,
): CatalogPage {
  const total = hits.length < limit ? Math.min(offset + hits.length, ranked) : ranked
  const cursorAfter = (count: number) => (offset + count < total ? writePageCursor(offset + count, scope()) : undefined)
  return { hits, offset, total, fit, cursorAfter }
}

const stateOf = (entry: CatalogEntry, { sourceOf, executorOf, readinessOf }: EntryFacts): MatchState => ({
  source: sourceOf(entry),
  status: toolStatusOf(entry.tool),
  executor: executorOf(entry),
  readiness: readinessOf(entry),
})

/** The hit of a ranked tool; a ranker without `remove` may still return one that the catalog has removed. */
export function toPageHit(
  { tool: { id }, score, scoreType }: RankedTool,
  entry: CatalogEntry | undefined,
  { originOf, sourceOf, readinessOf }: EntryFacts,
): CatalogHit[] {
  if (entry === undefined) return []
  const state = { source: sourceOf(entry), status: toolStatusOf(entry.tool), readiness: readinessOf(entry) }
  return [{ id, tool: entry.tool, runnable: originOf(entry).runnable, ...state, score, scoreType }]
}

/** A hit in the result format. */
export function toPageResult({ readiness, score, scoreType }: CatalogHit, { derived }: CatalogEntry): Result {
  return { summary: { ...derived.doc.summary, ...unlessReady(readiness) }, score, scoreType }
}

/** The page without a query: tools in their own order. */
export function browsePage(
  list: readonly { readonly id: string }[],
  { offset, limit, accept = () => true }: RankQuery,
): RankedPage {
  const tools = list.filter(accept)
  const hits = tools.slice(offset, offset + limit)
  return { hits: hits.map((tool) => ({ tool, score: 1, scoreType: 'substring' })), total: tools.length }
}

/** The properties of entries for one caller. */
export function entryFactsFor(options: CatalogOptions, view: CatalogView | undefined): EntryFacts {
  const originOf = (entry: CatalogEntry) => selectOrigin(entry, options.selectBackend)
  return {
    originOf,
    executorOf: (entry) => executorOf(originOf(entry)),
    sourceOf: (entry) => sourceOf(entry.tool, originOf(entry).backend),
    readinessOf(entry) {
      const { backend, runnable } = originOf(entry)
      const own = options.readinessOf?.(entry.tool, backend, runnable) ?? ready
      return view?.readinessOf(entry.tool, own) ?? own
    },
  }
}

/** Rejects an invalid page size. */
export function checkPageLimit(limit: number): void {
  if (!(limit > 0)) throw new TooldexError('INPUT_INVALID', 'limit must be positive')
  if (!Number.isSafeInteger(limit)) throw new TooldexError('INPUT_INVALID', 'limit must be an integer')
}

/** Whether a tool can be called now. */
export const isCallableFor =
  (entries: ReadonlyMap<string, CatalogEntry>, { readinessOf }: EntryFacts) =>
  ({ id }: { readonly id: string }): boolean => {
    const entry = entries.get(id)
    return entry !== undefined && isCallableIn(readinessOf(entry).state)
  }

/** Whether a tool may be a hit; undefined if nothing is excluded: evaluating filters for many tools takes longer than ranking. */
export function pageFilter(
  entries: ReadonlyMap<string, CatalogEntry>,
  { status, ...others }: CanonicalFilters,
  {
    facts,
    view,
    allActive,
    onMatch,
  }: Pick<SearchPageQuery, 'view' | 'onMatch'> & { readonly facts: EntryFacts; readonly allActive: boolean },
) {
  const everyStatus = status === undefined || (status.includes('ACTIVE') && allActive)
  if (everyStatus && Object.keys(others).length === 0 && view === undefined && onMatch === undefined) return undefined
  return ({ id }: { readonly id: string }) => {
    const entry = entries.get(id)
    if (entry === undefined || view?.sees(entry.tool, () => facts.readinessOf(entry)) === false) return false
    const isMatch = passesFilters(entry, { status, ...others }, facts)
    if (isMatch) onMatch?.({ tool: entry.tool, state: () => stateOf(entry, facts) })
    return isMatch
  }
}
