import { BoundedMap } from '../base/bounded-map.ts'
import { splitIdentifiers } from './split-identifiers.ts'
import { stem } from './stem.ts'
import { stopWords } from './stop-words.ts'

/** Converts a text to index terms. */
export interface Tokenizer {
  /** The words of a text, in lower case. */
  words(text: string): readonly string[]
  /** The index term of a word; undefined for a stop word. */
  term(word: string): string | undefined
  /** Set if kernels/words.ts and kernels/stem.ts implement the same, which is many times as fast. */
  readonly isBuiltIn?: true
}

/** A tokenizer for names and English sentences with a cache of stems; words of other languages are unchanged. */
export function createTokenizer(): Tokenizer {
  const stems = new BoundedMap<string, string>(maxRemembered)
  return {
    isBuiltIn: true,
    words: splitIdentifiers,
    term(word) {
      if (stopWords.has(word)) return undefined
      const known = stems.get(word)
      if (known !== undefined) return known
      const term = stem(word)
      stems.set(word, term)
      return term
    },
  }
}

/** The maximum number of words of a query. */
export const maxQueryWords = 64

/** A query truncated to its first words: ranking takes time for each word and tool. */
export function firstWords(query: string): string {
  const words = splitIdentifiers(query.slice(0, maxQueryCharacters))
  return words.length <= maxQueryWords ? query : words.slice(0, maxQueryWords).join(' ')
}

/** Longer than any name of a tool and any sentence of that many words. */
export const maxQueryCharacters = 8000

const maxRemembered = 100_000

/** The terms of a text, in order. */
export function termsOf(tokenizer: Tokenizer, text: string): readonly string[] {
  const terms: string[] = []
  for (const word of tokenizer.words(text)) {
    const term = tokenizer.term(word)
    if (term !== undefined) terms.push(term)
  }
  return terms
}
