import type { Fit } from '../contract/search.ts'
import { type ConfidenceWeights, confidenceWeights } from './confidence-weights.ts'
import type { QueryTerm } from './lexical-index.ts'
import { cosineOf, type Heights, heightOf } from './semantic-index.ts'
import { toCosine } from './vector-table.ts'

/** The evidence that a hit serves the query; that of the first hit decides whether any tool does. */
export interface Evidence {
  readonly bm25: number
  /** The BM25 score of a tool with every word of the query. */
  readonly ideal: number
  /** The cosine to the query, and the mean over the catalog; undefined without the encoder of the package. */
  readonly cosine: number | undefined
  readonly mean: number
  /** The mean cosine of unrelated requests to their nearest tool of the catalog. */
  readonly background: number
  /** Standard deviations above the mean of the catalog. */
  readonly deviation: number
  /** The number of words of the query that are not stop words. */
  readonly words: number
  /** The votes of example requests and past queries. */
  readonly votes: number
}

/** Votes come from requests nearly equal to the query, which the sets of the regression do not have. */
const votesPerLogit = 10

/** The probability that a hit serves the query, from 0 to 1. */
export function confidenceOf(evidence: Evidence): number {
  const meaning = evidence.deviation > 0 ? 'service' : 'words'
  const weights: ConfidenceWeights = confidenceWeights[evidence.cosine === undefined ? meaning : 'encoder']
  let logit = weights.base + evidence.votes / votesPerLogit
  for (const [name, value] of Object.entries(featuresOf(evidence))) logit += (weights[name as Feature] ?? 0) * value
  return Math.round(1000 / (1 + Math.exp(-logit))) / 1000
}

type Feature = keyof ReturnType<typeof featuresOf>

/** Below it catalogs are alike: few tools, which only their own requests are near to. */
const usualBackground = 0.35

/** The features of the regression. */
export function featuresOf({ bm25, ideal, cosine = 0, mean, background, deviation, words }: Evidence) {
  const share = ideal > 0 ? Math.min(bm25 / ideal, 1) : 0
  return {
    share,
    shareByWords: share * Math.log2(words + 1),
    cosine,
    mean,
    background: Math.max(background - usualBackground, 0),
    deviation,
  }
}

/** The verdict of a confidence; the same on every surface. */
export const fitFor = (confidence: number): Fit =>
  confidence >= confidenceWeights.good ? 'good' : confidence >= confidenceWeights.weak ? 'weak' : 'none'

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
