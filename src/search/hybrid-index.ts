import type { Retriever, RetrieverQuery, SearchableTool } from '../contract/search.ts'
import type { LexicalIndex } from './lexical-index.ts'
import type { Heights, SemanticIndex } from './semantic-index.ts'

/** The weights of words and meaning, tuned once on public retrieval sets; the same for every catalog. */
export const fusion = {
  /** The weight of one standard deviation of meaning beside BM25. */
  embedding: 4.5,
  /** The minimum deviation of a tool that matches by meaning alone. */
  standsOut: 2,
}

/** Combined ranking by words and meaning. */
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

  /** A tool without a word of the query must reach the minimum deviation. */
  score(query: RetrieverQuery, scores: Float64Array): { readonly words: Float64Array; readonly heights?: Heights } {
    const words = this.#lexical.rank(query.text, scores.length)
    const heights = this.#semantic.measure(query.text)
    const weights = { weight: fusion.embedding, minimum: minHeight(this.#lexical.size) }
    const fused = heights === undefined ? words : this.#semantic.fuse(words, heights, weights)
    for (let position = 0; position < scores.length; position++)
      scores[position] = (scores[position] as number) + (fused[position] as number)
    return heights === undefined ? { words } : { words, heights }
  }
}

/** With few tools none can stand out far: the best of n is at most the root of n - 1 deviations above the mean. */
const minHeight = (count: number): number => Math.min(fusion.standsOut, 0.8 * Math.sqrt(Math.max(count - 1, 0)))

/** The deviation of one tool from the mean. */
export const heightOf = (heights: Heights | undefined, position: number): number =>
  heights === undefined ? 0 : Math.max(0, ((heights.products[position] ?? 0) - heights.mean) * heights.scale)
