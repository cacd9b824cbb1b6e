/** What is known about one answer. */
interface Evidence {
  readonly bm25: number
  /** Standard deviations above the average of the catalogue. */
  readonly embedding: number
  /** What a tool would get that had every word of the query. */
  readonly ideal: number
}

// Fitted on public sets: requests against the catalogue that answers them, and against catalogues that do not.
const weights = { base: -4, share: 6, embedding: 0.6 }

/** How likely an answer is what was asked for, from 0 to 1; so that "no tool fits" can be said. */
export function confidenceOf({ bm25, embedding, ideal }: Evidence): number {
  const share = ideal > 0 ? Math.min(bm25 / ideal, 1) : 0
  const logit = weights.base + weights.share * share + weights.embedding * embedding
  return Math.round(1000 / (1 + Math.exp(-logit))) / 1000
}
