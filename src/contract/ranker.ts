import type { SearchMode } from './search.ts'

/** A request for one page of the tools that match a query. */
export interface RankQuery {
  readonly query: string
  readonly mode?: SearchMode | undefined
  readonly offset: number
  readonly limit: number
  /** Whether a tool may be a hit; every tool where absent. */
  readonly accept?: ((tool: { readonly id: string }) => boolean) | undefined
  /** Excludes hits with a lower score. */
  readonly minScore?: number | undefined
  /** The score from learning, by tool id. */
  readonly learned?: ReadonlyMap<string, number> | undefined
}

/** One hit of a ranking. */
export interface RankedTool {
  readonly tool: { readonly id: string }
  readonly score: number
  readonly scoreType: SearchMode
}

/** The requested page and the total number of hits. */
export interface RankedPage {
  readonly hits: readonly RankedTool[]
  readonly total: number
}

/** Ranks the tools of a catalog, best first, without repetition, in a stable order. */
export interface Ranker {
  search(query: RankQuery): RankedPage
}
