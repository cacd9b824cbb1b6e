import type { Fit } from '../contract/search.ts'
import { type ConfidenceWeights, confidenceWeights } from './confidence-weights.ts'

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
