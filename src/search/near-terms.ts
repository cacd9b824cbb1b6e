import { BoundedMap } from '../base/bounded-map.ts'
import type { Embedder } from './encoder.ts'
import type { LexicalIndex, TermWeights } from './lexical-index.ts'

/** The weight of a word that is near one of the request, tuned on public sets that its encoder was not trained on. */
const nearWeight = 0.3
const maxRemembered = 20_000

interface NearTerm {
  readonly term: string
  readonly weight: number
}

/** The terms of a catalog that mean about the same as a word of a request. */
export class NearTerms {
  readonly #embedder: Embedder
  readonly #known = new BoundedMap<string, readonly NearTerm[]>(maxRemembered)

  constructor(embedder: Embedder) {
    this.#embedder = embedder
  }

  /** With their weights; a term counts no more than the word that it stands for. */
  of(text: string, lexical: LexicalIndex): TermWeights {
    const near = new Map<string, number>()
    const { tokenizer } = lexical
    const words = new Set(tokenizer.words(text))
    const own = new Set(Array.from(words, (word) => tokenizer.term(word)))
    for (const word of words) {
      const asked = tokenizer.term(word)
      if (asked === undefined) continue
      const rarity = lexical.rarity(asked)
      for (const { term, weight } of this.#nearTo(word, lexical)) {
        if (own.has(term) || lexical.countOf(term) === 0) continue
        const share = weight * Math.min(1, rarity / lexical.rarity(term))
        if (share > (near.get(term) ?? 0)) near.set(term, share)
      }
    }
    return near
  }

  #nearTo(word: string, { tokenizer }: LexicalIndex): readonly NearTerm[] {
    const known = this.#known.get(word)
    if (known !== undefined) return known
    const near = (this.#embedder.nearWords?.(word) ?? []).flatMap(({ word: other, cosine }) => {
      const term = tokenizer.term(other)
      return term === undefined ? [] : [{ term, weight: nearWeight * cosine }]
    })
    this.#known.set(word, near)
    return near
  }
}
