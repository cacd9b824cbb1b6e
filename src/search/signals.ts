import type { Evidence } from './confidence.ts'
import type { QueryTerm } from './lexical-index.ts'
import { cosineOf, type Heights, heightOf } from './semantic-index.ts'
import { toCosine } from './vector-table.ts'

/** The signals of one query, by position. */
export interface Signals {
  readonly text: string
  readonly terms: readonly QueryTerm[]
  /** The words of the query before corrections, and the BM25 score of a tool with all of them. */
  readonly asked: readonly string[]
  readonly ideal: number
  /** The word scores and the semantic deviations of this query only. */
  readonly words?: Float64Array
  readonly heights?: Heights | undefined
  /** The votes of example requests and of past queries, by tool id. */
  readonly votes: readonly (ReadonlyMap<string, number> | undefined)[]
  /** The sum of words, meaning and experience. */
  readonly total: Float64Array
}

/** The votes of all experience for a tool. */
export const votesFor = (id: string, { votes }: Signals): number =>
  votes.reduce((sum, each) => sum + (each?.get(id) ?? 0), 0)

/** The evidence for one tool. */
export function evidenceOf(
  position: number,
  signals: Signals,
  { isBuiltIn, id }: { readonly isBuiltIn: boolean; readonly id: string },
): Evidence {
  const { words, heights, ideal, asked } = signals
  return {
    bm25: words?.[position] ?? 0,
    ideal,
    cosine: heights !== undefined && isBuiltIn ? cosineOf(heights, position) : undefined,
    mean: toCosine(heights?.mean ?? 0),
    background: heights?.background ?? 0,
    deviation: heightOf(heights, position),
    words: asked.length,
    votes: votesFor(id, signals),
  }
}
