/** What is known about one answer. */
interface Evidence {
  readonly bm25: number
  /** Standard deviations above the average of the catalog. */
  readonly embedding: number
  /** What a tool would get that had every word of the query. */
  readonly ideal: number
  /** The share of the tool's name that is in the query. */
  readonly name: number
}

// Fitted on public sets: requests against the catalog that answers them, and against catalogs that do not.
const weights = { base: -3.087, share: 4.134, embedding: 0.182, name: 1.34 }

/** How likely an answer is what was asked for, from 0 to 1; so that "no tool fits" can be said. */
export function confidenceOf({ bm25, embedding, ideal, name }: Evidence): number {
  const share = ideal > 0 ? Math.min(bm25 / ideal, 1) : 0
  const logit = weights.base + weights.share * share + weights.embedding * embedding + weights.name * name
  return Math.round(1000 / (1 + Math.exp(-logit))) / 1000
}
