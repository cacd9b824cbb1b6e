import type { Backend, CatalogTool, CatalogToolInput, Readiness } from '../contract/catalog.ts'
import type { RunnableTool } from '../contract/executor.ts'
import type { Ranker } from '../contract/search.ts'
import type { CatalogRunner } from './call-entry.ts'
import type { SelectBackend } from './catalog-entry.ts'

/** The options of a catalog. */
export interface CatalogOptions {
  readonly selectBackend?: SelectBackend
  /** Ranks for `search` and `searchPage`; the default compares every tool. Call `refresh` when its ranking changes. */
  readonly ranker?: Ranker
  /** The order of ids in `list` and without a query; by default, ids are sorted and the ranker decides. */
  readonly order?: (id: string, other: string) => number
  /** Whether a tool can be called now; evaluated for every result, and for every tool if a filter needs it. */
  readonly readinessOf?: (tool: CatalogTool, backend: Backend, runnable: RunnableTool | undefined) => Readiness
  /** Cursors are valid in every catalog with the same tools; costs a hash of all tools after a change. */
  readonly sharedCursors?: boolean
  /** Receives errors thrown by listeners; ignored by default. */
  readonly onListenerError?: (error: unknown) => void
  /** Runs tools that were registered without a function of their own. */
  readonly run?: CatalogRunner
}

/** A tool and its backend. */
export interface Registration {
  readonly tool: CatalogToolInput
  readonly backend: Backend
}

/** Options of a call besides its arguments. */
export interface CatalogCallOptions {
  readonly signal?: AbortSignal
}
