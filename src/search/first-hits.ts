import type { LexicalIndex } from './lexical-index.ts'
import { type Heights, type SemanticIndex, standardize } from './semantic-index.ts'
import { splitIdentifiers, stopWords } from './tokenize.ts'

// The order of the first hits: compared with the request word by word, by its clauses, and by whether they can be called.

/** The number of first hits whose order may be changed. */
export const reordered = 50

interface Sources {
  readonly lexical: LexicalIndex
  readonly semantic: SemanticIndex | undefined
}

interface MatchSources extends Sources {
  readonly text: string
  /** The number of words of the request, without stop words. */
  readonly count: number
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
export function rankByMatches(best: readonly number[], ranks: Float64Array, sources: MatchSources): readonly number[] {
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

/** The minimum number of words of a request with clauses, without stop words. */
const minWords = 3
const maxClauses = 8

/** The clauses of a request, such as two tasks joined by "and"; none for a request of one. */
export function clausesOf(text: string): readonly string[] {
  if (countWords(text) < minWords) return []
  const clauses = text.split(/[.;!?\n]+\s|[.!?]$|\b(?:and|then|also)\b/i).filter((part) => countWords(part) > 0)
  return clauses.length < 2 ? [] : clauses.slice(0, maxClauses)
}

const countWords = (text: string): number => splitIdentifiers(text).filter((word) => !stopWords.has(word)).length

interface ClauseSources extends Sources {
  readonly clauses: readonly string[]
  readonly heights: Heights | undefined
}

/** The number of clauses that may stand for one tool each, the first hits among which these are, and their maximum number. */
const [maxTasks, firstHits, maxPromoted] = [3, 5, 2]
/** The weight of the whole request beside a clause. */
const wholeWeight = 0.4

/**
 * Ranks the first hits of a request with clauses: the best clause counts beside the whole, and the best tool of each clause
 * is among the first five.
 */
export function rankByClauses(best: readonly number[], ranks: Float64Array, sources: ClauseSources): readonly number[] {
  const { clauses, heights, semantic } = sources
  if (clauses.length < 2 || heights === undefined || semantic === undefined) return best
  const head = best.slice(0, reordered)
  for (const [at, gain] of semantic.clauseGains(clauses, head, heights).entries()) {
    const position = head[at] as number
    ranks[position] = Math.max(Number.MIN_VALUE, (ranks[position] as number) + gain)
  }
  head.sort((a, b) => (ranks[b] as number) - (ranks[a] as number))
  const covered = clauses.length > maxTasks ? head : coverTasks(head, ranks, { ...sources, heights, semantic })
  return [...covered, ...best.slice(reordered)]
}

type Known = ClauseSources & { readonly heights: Heights; readonly semantic: SemanticIndex }

/** Moves the best tools of the clauses among the first. */
function coverTasks(head: readonly number[], ranks: Float64Array, { clauses, ...sources }: Known): readonly number[] {
  const first = head.slice(0, firstHits)
  const wanted = new Set(clauses.map((clause) => bestOf(clause, head, ranks, sources)))
  const missing = [...wanted].filter((position) => position >= 0 && !first.includes(position)).slice(0, maxPromoted)
  if (missing.length === 0) return head
  const kept = first.slice(0, firstHits - missing.length)
  return [...new Set([...kept, ...missing, ...head])]
}

function bestOf(
  clause: string,
  head: readonly number[],
  ranks: Float64Array,
  { lexical, semantic, heights }: Omit<Known, 'clauses'>,
): number {
  const words = lexical.rank(clause, ranks.length)
  const products = semantic.productsAt(head, clause)
  let [best, highest] = [-1, 0]
  for (const [at, position] of head.entries()) {
    const meaning = products === undefined ? 0 : standardize(products[at] as number, heights)
    const score = (words[position] as number) + meaning + wholeWeight * (ranks[position] as number)
    if (score > highest) [best, highest] = [position, score]
  }
  return best
}

/** The share of its score that a tool keeps that cannot be called now. */
const demotion = 0.95

/** Moves tools that cannot be called below equal ones that can, among the first of all pages. */
export function demoteUncallable(
  best: readonly number[],
  ranks: Float64Array,
  isCallable: (position: number) => boolean,
): readonly number[] {
  const head = best.slice(0, reordered)
  const worth = new Map(
    head.map((position) => [position, (ranks[position] as number) * (isCallable(position) ? 1 : demotion)]),
  )
  head.sort((a, b) => (worth.get(b) as number) - (worth.get(a) as number))
  return [...head, ...best.slice(reordered)]
}
