import type { Retriever, RetrieverQuery, SearchableTool } from '../contract/search.ts'
import type { LexicalIndex } from './lexical-index.ts'
import type { Heights, SemanticIndex } from './semantic-index.ts'

/** How words and meaning are weighed; set once on public retrieval sets, the same for every catalogue. */
export const fusion = {
  /** What one standard deviation of meaning counts beside BM25. */
  embedding: 4.5,
  /** How far a tool must stand out by meaning alone to be an answer. */
  standsOut: 2,
}

/** Words and meaning together. */
export class HybridIndex implements Retriever {
  readonly mode = 'hybrid'
  readonly #lexical: LexicalIndex
  readonly #semantic: SemanticIndex

  constructor(lexical: LexicalIndex, semantic: SemanticIndex) {
    this.#lexical = lexical
    this.#semantic = semantic
  }

  add(position: number, tool: SearchableTool): void {
    this.#lexical.add(position, tool)
    this.#semantic.add(position, tool, this.#lexical.wordsOf(position))
  }

  remove(position: number): void {
    this.#lexical.remove(position)
    this.#semantic.remove(position)
  }

  /** Copies what words alone gave into `words`, where it is asked for, and says how far each tool stands out by meaning. */
  score(query: RetrieverQuery, scores: Float64Array, words?: Float64Array): Heights | undefined {
    this.#lexical.score(query, scores)
    words?.set(scores)
    const heights = this.#semantic.measure(query.text)
    if (heights !== undefined) addMeaning(heights, scores, leastHeight(this.#lexical.size))
    return heights
  }
}

/** Among few tools none can stand out far: of n the best is at most the root of n - 1 deviations above the average. */
const leastHeight = (count: number): number => Math.min(fusion.standsOut, 0.8 * Math.sqrt(Math.max(count - 1, 0)))

/** Adds what meaning counts; a tool without a word of the query must stand out far enough by meaning alone. */
function addMeaning({ products, mean, scale }: Heights, total: Float64Array, least: number): void {
  const weight = fusion.embedding * scale
  const far = mean + least / scale
  for (let position = 0; position < products.length; position++) {
    const product = products[position] as number
    const words = total[position] as number
    // A product of zero is no tool.
    if ((product > far || (words > 0 && product > mean)) && product !== 0)
      total[position] = words + weight * (product - mean)
  }
}

/** How far one tool stands out. */
export const heightOf = (heights: Heights | undefined, position: number): number =>
  heights === undefined ? 0 : Math.max(0, ((heights.products[position] ?? 0) - heights.mean) * heights.scale)
