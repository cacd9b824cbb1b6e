import type { SearchMode } from './search.ts'

/** What a catalog asks of a ranker: one page of the tools that fit a query. */
export interface RankQuery {
  readonly query: string
  readonly mode?: SearchMode | undefined
  readonly offset: number
  readonly limit: number
  /** Whether a tool may be an answer at all; every one may where absent. */
  readonly accept?: ((tool: { readonly id: string }) => boolean) | undefined
  /** Leaves out what is less likely than this to be what was asked for. */
  readonly minScore?: number | undefined
  /** What experience adds, by tool id. */
  readonly learned?: ReadonlyMap<string, number> | undefined
}

/** One place in a ranking. */
export interface RankedTool {
  readonly tool: { readonly id: string }
  readonly score: number
  readonly scoreType: SearchMode
}

/** The page that was asked for, and how many fit in all. */
export interface RankedPage {
  readonly hits: readonly RankedTool[]
  readonly total: number
}

/** Ranks the tools of a catalog, best first: each once, and in the same order for the same tools. */
export interface Ranker {
  search(query: RankQuery): RankedPage
}
