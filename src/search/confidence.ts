/** The features of one result. */
interface Evidence {
  readonly bm25: number
  /** Standard deviations above the mean of the catalog. */
  readonly embedding: number
  /** The score of a tool that contains every word of the query. */
  readonly ideal: number
  /** The share of the tool's name that is in the query. */
  readonly name: number
}

// Fitted on public sets: queries against the catalog with their relevant tools, and against catalogs without.
const weights = { base: -3.087, share: 4.134, embedding: 0.182, name: 1.34 }

/** The probability that a result is relevant, from 0 to 1, which allows a threshold for "no tool fits". */
export function confidenceOf({ bm25, embedding, ideal, name }: Evidence): number {
  const share = ideal > 0 ? Math.min(bm25 / ideal, 1) : 0
  const logit = weights.base + weights.share * share + weights.embedding * embedding + weights.name * name
  return Math.round(1000 / (1 + Math.exp(-logit))) / 1000
}
