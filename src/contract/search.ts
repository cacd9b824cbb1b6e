import * as z from 'zod'
import { Readiness } from './catalog.ts'
import type { Caller } from './stores.ts'
import type { JsonSchema } from './tool-index.ts'

/** The ranking method: literal match, words, meaning, or words and meaning. */
export const SearchMode = z.enum(['substring', 'bm25', 'embedding', 'hybrid'])
export type SearchMode = z.infer<typeof SearchMode>

/** The verdict of a search: whether the catalog has a tool for the query. */
export const Fit = z.enum(['good', 'weak', 'none'])
export type Fit = z.infer<typeof Fit>

/** The fields of a tool that search indexes. */
export interface SearchableTool {
  readonly id: string
  readonly name: string
  readonly namespace?: string | undefined
  readonly description: string
  readonly category?: string | null | undefined
  readonly tags?: readonly string[] | undefined
  readonly inputSchema?: JsonSchema | undefined
  /** Requests of users that this tool serves. */
  readonly exampleRequests?: readonly string[] | undefined
}

/** The breakdown of a score. */
export const Explanation = z.object({
  /** The corrected query, where words that no tool has were replaced by likely ones. */
  readAs: z.string().optional(),
  /** Each matching term of the query, with its fields and its contribution. */
  terms: z.array(z.object({ term: z.string(), fields: z.array(z.string()), score: z.number() })),
  signals: z.object({
    exactName: z.boolean(),
    bm25: z.number(),
    nameCoverage: z.number(),
    embedding: z.number(),
    learned: z.number(),
  }),
  formula: z.string(),
  /** The features of the confidence, by name; absent for an exact name. */
  evidence: z.record(z.string(), z.number()).optional(),
})
export type Explanation = z.infer<typeof Explanation>

/** What a ranking knows of a tool at least. */
interface Identified {
  readonly id: string
}

/** A request for one page of the tools that match a query. */
export interface RankQuery<Tool extends Identified = Identified> {
  readonly query: string
  readonly mode?: SearchMode | undefined
  readonly offset: number
  readonly limit: number
  /** Whether a tool may be a hit; every tool where absent. */
  readonly accept?: ((tool: Tool) => boolean) | undefined
  /** Excludes hits with a lower score. */
  readonly minScore?: number | undefined
  /** Whether a tool can be called now; one that cannot ranks below an equal one that can. */
  readonly isCallable?: ((tool: Tool) => boolean) | undefined
  /** The score from learning, by tool id. */
  readonly learned?: ReadonlyMap<string, number> | undefined
}

/** One hit of a ranking; the score of the engine is the probability that it is relevant, from 0 to 1. */
export interface RankedTool<Tool extends Identified = Identified> {
  readonly tool: Tool
  readonly score: number
  readonly scoreType: SearchMode
}

/** The requested page, best first, and the total number of hits. */
export interface RankedPage<Tool extends Identified = Identified> {
  readonly hits: readonly RankedTool<Tool>[]
  readonly total: number
  /** The verdict on the best tool of all pages; absent without a query. */
  readonly fit?: Fit | undefined
}

/** Ranks the tools of a catalog, best first, without repetition, in a stable order. */
export interface Ranker {
  search(query: RankQuery): RankedPage
  /** Receives each added or changed tool before the next search, for a ranker with an index. */
  add?(tool: SearchableTool): void
  /** Receives the id of each removed tool, as `add`. */
  remove?(id: string): void
}

/** The maximum length of the description in search results. */
export const maxShortDescription = 120

/** A tool in search results: enough to choose it, never its schemas. */
export const Summary = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  namespace: z.string().optional(),
  shortDescription: z.string().max(maxShortDescription),
  /** The same text under the name that other clients use. */
  summary: z.string().max(maxShortDescription),
  category: z.string().optional(),
  inputModes: z.array(z.string()),
  outputModes: z.array(z.string()),
  securitySummary: z.string().optional(),
  tags: z.array(z.string()),
  /** Present only for a tool that cannot be called now. */
  readiness: Readiness.optional(),
})
export type Summary = z.infer<typeof Summary>

/** The search document of a tool; read-only. */
export interface SearchDoc {
  readonly id: string
  /** Lower case: name, namespace, description, summary, category, modes and tags. */
  readonly docText: string
  readonly summary: Summary
}

/** A hit with its score and its ranking method. */
export const Result = z.object({ summary: Summary, score: z.number(), scoreType: SearchMode })
export type Result = z.infer<typeof Result>

/** One page of a search; no `nextCursor` on the last one. */
export const ResultPage = z.object({ results: z.array(Result), nextCursor: z.string().optional() })
export type ResultPage = z.infer<typeof ResultPage>

/** The input of search by meaning. */
export const SemanticDocument = z.object({
  id: z.string().min(1),
  namespace: z.string().optional(),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  category: z.string().optional(),
  text: z.string(),
})
export type SemanticDocument = z.infer<typeof SemanticDocument>

/** A query that was followed by a successful call of a tool. */
export interface LearnedQuery {
  readonly query: string
  readonly toolId: string
  readonly successes: number
  readonly learnedAt: string
}

/** The entries since a moment and the total number of entries: a reader with another total has missed deletions. */
export interface LearnedSince {
  readonly items: readonly LearnedQuery[]
  readonly total: number
}

/** Learned queries, separate for each workspace. */
export interface LearningStore {
  /** Records a success. Above the limit of a workspace, the least recently used entries are deleted. */
  note(workspace: string, query: string, toolId: string): Promise<void>
  /** The entries from a moment on (inclusive), oldest first; all entries without a moment. */
  since(workspace: string, moment?: string): Promise<LearnedSince>
  /** Deletes all entries with an audit record; returns their number. */
  forget(caller: Caller): Promise<number>
}
