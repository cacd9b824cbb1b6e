import { fitFor } from '../../search/confidence.ts'

/** The confidence of searches that have a tool in the catalog, and of those that have none. */
export interface Confidences {
  readonly served: number[]
  /** Of queries without relevant tools. */
  readonly unserved: number[]
  /** Of the other queries if their relevant tools were removed. */
  readonly removed: number[]
}

interface ScoredHit {
  readonly score: number
  readonly tool: { readonly id: string }
}

/** Adds the confidences of one query. */
export function noteConfidence(to: Confidences, hits: readonly ScoredHit[], relevant: readonly string[]): void {
  const first = hits[0]?.score ?? 0
  if (relevant.length === 0) to.unserved.push(first)
  else {
    to.served.push(first)
    to.removed.push(hits.find((hit) => !relevant.includes(hit.tool.id))?.score ?? 0)
  }
}

/**
 * How well the verdict separates the two, in percent. A set without queries that have no tool is measured with its relevant
 * tools removed, which often leaves a tool that does as well.
 */
export function scoreAbstention({ served, unserved, removed }: Confidences) {
  const negatives = unserved.length > 0 ? unserved : removed
  const refused = (values: readonly number[]) => values.filter((value) => fitFor(value) === 'none').length
  const percent = (values: readonly number[]) => (values.length === 0 ? 0 : (100 * refused(values)) / values.length)
  return {
    auroc: 100 * auroc(served, negatives),
    falseAbstention: percent(served),
    trueAbstention: percent(negatives),
  }
}

/** The share of pairs in which the served query is the more confident one; 0 without pairs. */
function auroc(served: readonly number[], negatives: readonly number[]): number {
  const all = [...served.map((value) => [value, 1] as const), ...negatives.map((value) => [value, 0] as const)]
  all.sort(([a], [b]) => a - b)
  let [wins, below] = [0, 0]
  for (let at = 0; at < all.length; ) {
    const [value] = all[at] as readonly [number, number]
    let [equalServed, equal] = [0, 0]
    for (; at < all.length && all[at]?.[0] === value; at++) {
      equal++
      equalServed += all[at]?.[1] ?? 0
    }
    const equalNegatives = equal - equalServed
    wins += equalServed * (below + equalNegatives / 2)
    below += equalNegatives
  }
  const pairs = served.length * negatives.length
  return pairs === 0 ? 0 : wins / pairs
}
