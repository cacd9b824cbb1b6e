import * as z from 'zod'
import type { JsonSchema } from './input-schema.ts'

/** The ranking method: literal match, words, meaning, or words and meaning. */
export const SearchMode = z.enum(['substring', 'bm25', 'embedding', 'hybrid'])
export type SearchMode = z.infer<typeof SearchMode>

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

/** A query of an index. */
export interface RetrieverQuery {
  readonly text: string
}

/** The index of one ranking signal, updated in place; positions are the numbers of tools within it. */
export interface Retriever {
  readonly mode: SearchMode
  add(position: number, tool: SearchableTool): void
  remove(position: number, tool: SearchableTool): void
  /** Increases `scores[position]` for every matching tool. */
  score(query: RetrieverQuery, scores: Float64Array): void
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
})
export type Explanation = z.infer<typeof Explanation>
