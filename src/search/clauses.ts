import { reordered } from './hit-order.ts'
import type { LexicalIndex } from './lexical-index.ts'
import { type Heights, type SemanticIndex, standardize } from './semantic-index.ts'
import { splitIdentifiers } from './split-identifiers.ts'
import { stopWords } from './tokenize.ts'

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

interface Sources {
  readonly clauses: readonly string[]
  readonly heights: Heights | undefined
  readonly lexical: LexicalIndex
  readonly semantic: SemanticIndex | undefined
}

/** The number of clauses that may stand for one tool each, the first hits among which these are, and their maximum number. */
const [maxTasks, firstHits, maxPromoted] = [3, 5, 2]
/** The weight of the whole request beside a clause. */
const wholeWeight = 0.4

/**
 * Ranks the first hits of a request with clauses: the best clause counts beside the whole, and the best tool of each clause
 * is among the first five.
 */
export function rankByClauses(best: readonly number[], ranks: Float64Array, sources: Sources): readonly number[] {
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

type Known = Sources & { readonly heights: Heights; readonly semantic: SemanticIndex }

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
