import type { LexicalIndex } from './lexical-index.ts'
import type { SemanticIndex } from './semantic-index.ts'

interface Sources {
  readonly text: string
  readonly lexical: LexicalIndex
  readonly semantic: SemanticIndex | undefined
}

/** The number of first hits that are compared word by word. */
const compared = 20
/**
 * What the share of the request in a tool, and that of its name in the request, add to its score. training/fit-matches.mjs prefers larger
 * weights, but with those tools of the bundled configs are not found by their own example requests.
 */
const weights: readonly number[] = [3, 1.5]

/** Ranks the first hits by how near their single words are to those of the request, too. */
export function rankByMatches(best: readonly number[], ranks: Float64Array, sources: Sources): readonly number[] {
  const { text, lexical, semantic } = sources
  const head = best.slice(0, compared)
  const matches = semantic?.matchTools(text, head, lexical)
  if (matches === undefined) return best
  for (const [at, position] of head.entries())
    ranks[position] = Math.max(Number.MIN_VALUE, (ranks[position] as number) + matchGain(matches[at]))
  head.sort((a, b) => (ranks[b] as number) - (ranks[a] as number))
  return [...head, ...best.slice(compared)]
}

/** What the shares of one tool add to its score. */
export const matchGain = (shares: Float32Array | undefined): number =>
  weights.reduce((sum, weight, at) => sum + weight * (shares?.[at] ?? 0), 0)
