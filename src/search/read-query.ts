import { forgiveTypos } from './forgive-typos.ts'
import type { LexicalIndex, TermWeights } from './lexical-index.ts'
import type { Tokenizer } from './tokenize.ts'

/** The weight of a word that stands for an unknown one. */
const correctedWeight = 0.6

/** A query as it is ranked: with corrections, and the weights of its words where they are not 1. */
export interface ReadQuery {
  readonly text: string
  readonly weights: TermWeights
}

/** Reads a query: corrects unknown words, which count less. */
export function readQuery(
  query: string,
  source: { lexical: LexicalIndex; tokenizer: Tokenizer; isWord: (word: string) => boolean },
): ReadQuery {
  const { text, corrected } = forgiveTypos(query, source)
  const weights = new Map(Array.from(corrected, (term) => [term, correctedWeight]))
  return { text, weights }
}
