import { splitIdentifiers } from './split-identifiers.ts'
import { stem } from './stem.ts'
import { stopWords } from './stop-words.ts'

/** Turns a text into the terms that are indexed and looked for. */
export type Tokenizer = (text: string) => readonly string[]

/** A tokenizer for names and English sentences that remembers stems; other languages pass through unharmed. */
export function createTokenizer(): Tokenizer {
  const stems = new Map<string, string>()
  return (text) => {
    const terms: string[] = []
    for (const word of splitIdentifiers(text)) {
      if (stopWords.has(word)) continue
      let term = stems.get(word)
      if (term === undefined) {
        if (stems.size > mostRemembered) stems.clear()
        term = stem(word)
        stems.set(word, term)
      }
      terms.push(term)
    }
    return terms
  }
}

const mostRemembered = 100_000
