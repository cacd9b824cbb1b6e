import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Tokenizer, termsOf } from './tokenize.ts'

/** What every tokenizer must do. */
export function describeTokenizer(name: string, create: () => Tokenizer): void {
  describe(`tokenizer: ${name}`, () => {
    it('takes any text, and gives words in which something is written', () => {
      fc.assert(
        fc.property(fc.string({ unit: 'binary' }), (text) => {
          const words = create().words(text)
          expect(words.every((word) => word.length > 0 && !/\s/.test(word))).toBe(true)
        }),
      )
    })

    it('returns the same tokens for the same text, whatever the number and order of calls', () => {
      const tokenizer = create()
      fc.assert(
        fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, other) => {
          const terms = termsOf(tokenizer, text)
          termsOf(tokenizer, other)
          expect(termsOf(tokenizer, text)).toEqual(terms)
          expect(termsOf(create(), text)).toEqual(terms)
        }),
      )
    })

    it('does not mind capital letters', () => {
      const text = 'list the pull requests of a repository'
      expect(termsOf(create(), text.toUpperCase())).toEqual(termsOf(create(), text))
    })
  })
}
