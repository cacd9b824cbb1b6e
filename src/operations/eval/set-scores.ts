import * as z from 'zod'
import { confidenceWeights } from '../../search/confidence-weights.ts'
import type { Measured } from './run-queries.ts'

/** Scores from 0 to 100, the quality of the verdict, tokens of a response, and latency. */
export const MacroScores = z.object({
  recall1: z.number(),
  recall5: z.number(),
  recall10: z.number(),
  ndcg10: z.number(),
  mrr: z.number(),
  hit1: z.number(),
  /** The share of queries with all relevant tools among the first five results. */
  setRecall5: z.number(),
  /** Of the confidence, for queries with and without a tool; then the shares of both with the verdict `none`. */
  auroc: z.number(),
  falseAbstention: z.number(),
  trueAbstention: z.number(),
  tokens: z.number(),
  p50Ms: z.number(),
  p95Ms: z.number(),
})
export type MacroScores = z.infer<typeof MacroScores>

/** The scores of one set. */
export const SetScores = z.object({ set: z.string(), tools: z.int(), queries: z.int(), ...MacroScores.shape })
export type SetScores = z.infer<typeof SetScores>

const scoreKeys = ['recall1', 'recall5', 'recall10', 'ndcg10', 'mrr', 'hit1'] as const

const verdictKeys = ['setRecall5', 'auroc', 'falseAbstention', 'trueAbstention'] as const
/** The measures that are averaged over sets. */
export const numberKeys = [...scoreKeys, ...verdictKeys, 'tokens', 'p50Ms', 'p95Ms'] as const

/** One line for a set. */
export function summarizeScores(
  { name, tools, queries }: { name: string; tools: readonly unknown[]; queries: readonly unknown[] },
  measured: Measured,
  least?: number,
): SetScores {
  const percent = measured.scores.map((scores) => ({
    recall1: 100 * scores.recall1,
    recall5: 100 * scores.recall5,
    recall10: 100 * scores.recall10,
    ndcg10: 100 * scores.ndcg10,
    mrr: 100 * scores.mrr,
    hit1: 100 * scores.hit1,
  }))
  const tokens = measured.tokens.map((count) => ({ tokens: count }))
  return {
    set: name,
    tools: tools.length,
    queries: queries.length,
    ...averageScores(scoreKeys, percent),
    ...averageScores(
      ['setRecall5'],
      measured.wholeSets.map((isWhole) => ({ setRecall5: isWhole ? 100 : 0 })),
    ),
    ...scoreAbstention(measured.confidences, least),
    ...averageScores(['tokens'], tokens),
    p50Ms: percentile(measured.milliseconds, 0.5),
    p95Ms: percentile(measured.milliseconds, 0.95),
  }
}

/** Rounds numbers for output: scores to two digits, times to three. */
export function roundScores<Line extends MacroScores>(line: Line): Line {
  const rounded = numberKeys.map((key) => [key, round(line[key], key.endsWith('Ms') ? 3 : 2)] as const)
  return { ...line, ...Object.fromEntries(rounded) }
}

/** The mean of each number over many records with the same keys; 0 where there are none. */
export function averageScores<Key extends string>(
  keys: readonly Key[],
  records: readonly Readonly<Record<Key, number>>[],
): Record<Key, number> {
  const means = keys.map((key) => {
    const sum = records.reduce((total, record) => total + record[key], 0)
    return [key, records.length === 0 ? 0 : sum / records.length] as const
  })
  return Object.fromEntries(means) as Record<Key, number>
}

/** The value that this share of the values does not exceed (quantile); 0 for no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}

/** Rounds a number for output. */
export const round = (value: number, digits = 2): number => Number(value.toFixed(digits))

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
export function scoreAbstention({ served, unserved, removed }: Confidences, least: number = confidenceWeights.weak) {
  const negatives = unserved.length > 0 ? unserved : removed
  const refused = (values: readonly number[]) => values.filter((value) => value < least).length
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
