import * as z from 'zod'
import type { JsonSchema } from './input-schema.ts'

/** How a search ranks: the seeds' literal match, words, meaning, or words and meaning. */
export const SearchMode = z.enum(['substring', 'bm25', 'embedding', 'hybrid'])
export type SearchMode = z.infer<typeof SearchMode>

/** What search reads of a tool. */
export interface SearchableTool {
  readonly id: string
  readonly name: string
  readonly namespace?: string | undefined
  readonly description: string
  readonly category?: string | null | undefined
  readonly tags?: readonly string[] | undefined
  readonly inputSchema?: JsonSchema | undefined
  /** What a user would type to get this tool. */
  readonly exampleRequests?: readonly string[] | undefined
}

/** A question to an index; positions are the index's own numbers of its tools. */
export interface RetrieverQuery {
  readonly text: string
}

/** Where one ranking signal keeps its tools: adding, changing or removing one updates it in place. */
export interface Retriever {
  readonly mode: SearchMode
  add(position: number, tool: SearchableTool): void
  remove(position: number, tool: SearchableTool): void
  /** Raises `scores[position]` for every tool that fits. */
  score(query: RetrieverQuery, scores: Float64Array): void
}

/** Why a tool was ranked where it is. */
export const Explanation = z.object({
  /** What the query was taken for, where words that no tool has were replaced by likely ones. */
  readAs: z.string().optional(),
  /** Each term of the query that was found, where, and what it added. */
  terms: z.array(z.object({ term: z.string(), fields: z.array(z.string()), score: z.number() })),
  signals: z.object({
    exactName: z.boolean(),
    bm25: z.number(),
    nameCoverage: z.number(),
    embedding: z.number(),
    learned: z.number(),
  }),
  formula: z.string(),
})
export type Explanation = z.infer<typeof Explanation>
