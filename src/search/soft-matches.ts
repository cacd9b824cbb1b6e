import type { LexicalIndex } from './lexical-index.ts'
import type { SemanticIndex } from './semantic-index.ts'

interface Sources {
  readonly text: string
  /** The number of words of the request, without stop words. */
  readonly count: number
  readonly lexical: LexicalIndex
  readonly semantic: SemanticIndex | undefined
}

/** The number of first hits that are compared word by word. */
const compared = 20
/**
 * What the share of the request in a tool adds to its score for each word of the request, and what the shares of its name and of its
 * description in the request add. Scores of words grow with the request, so that a fixed sum would decide short requests alone
 * (decision 92); fitted by training/fit-matches.mjs.
 */
const weights: readonly number[] = [1.4, 0.7, 0, 0.35]
/** The number of words of a request that count: those of a long one are mostly not about the tool. */
const countedWords = (count: number): number => Math.min(count, 15)

/** Ranks the first hits by how near their single words are to those of the request, too. */
export function rankByMatches(best: readonly number[], ranks: Float64Array, sources: Sources): readonly number[] {
  const { text, count, lexical, semantic } = sources
  const head = best.slice(0, compared)
  const matches = semantic?.matchTools(text, head, lexical)
  if (matches === undefined) return best
  for (const [at, position] of head.entries())
    ranks[position] = Math.max(Number.MIN_VALUE, (ranks[position] as number) + matchGain(matches[at], count))
  head.sort((a, b) => (ranks[b] as number) - (ranks[a] as number))
  return [...head, ...best.slice(compared)]
}

/** What the shares of one tool add to its score. */
export const matchGain = (shares: Float32Array | undefined, count: number): number =>
  countedWords(count) * weights.reduce((sum, weight, at) => sum + weight * (shares?.[at] ?? 0), 0)
