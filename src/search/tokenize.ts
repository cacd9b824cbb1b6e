import { BoundedMap } from '../base/bounded-map.ts'
import { splitIdentifiers } from './split-identifiers.ts'
import { stem } from './stem.ts'

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
const maxQueryWords = 64

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

const words = `a an the of in on at to for from by with and or is are was were be been being am do does did doing have has had
having i me my mine we our ours us you your yours he him his she her it its they them their this that these those what which
who whom whose when where why how can could will would shall should may might must not no nor so if then than too very just
about into over under again further once here there all any both each few more most other some such only own same s t d ll m
re ve please`

/** Words that carry no information about a tool. */
export const stopWords: ReadonlySet<string> = new Set(words.split(/\s+/))
