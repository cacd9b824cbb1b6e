/** The scores of one ranking, or the means of many. */
export interface Scores {
  readonly recall1: number
  readonly recall5: number
  readonly recall10: number
  readonly ndcg10: number
  readonly mrr: number
  /** Whether the first result is relevant. */
  readonly hit1: number
}

/** Scores a ranking, best first, by its relevant ids; each score is from 0 to 1. */
export function scoreRanking(results: readonly string[], relevant: readonly string[]): Scores {
  const gold = new Set(relevant)
  const got = [...new Set(results)]
  const first = got.findIndex((id) => gold.has(id))
  return {
    recall1: recallAt(1, got, gold),
    recall5: recallAt(5, got, gold),
    recall10: recallAt(10, got, gold),
    ndcg10: gainOf(got.slice(0, 10).map((id) => gold.has(id))) / gainOf(Array(Math.min(10, gold.size)).fill(true)),
    mrr: first < 0 ? 0 : 1 / (first + 1),
    hit1: first === 0 ? 1 : 0,
  }
}

const recallAt = (depth: number, got: readonly string[], gold: ReadonlySet<string>): number =>
  got.slice(0, depth).filter((id) => gold.has(id)).length / gold.size

/** Discounted gain: a relevant result counts less the lower its rank. */
const gainOf = (right: readonly boolean[]): number =>
  right.reduce((sum, isRight, rank) => sum + (isRight ? 1 / Math.log2(rank + 2) : 0), 0)
