import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encoderFile } from '../base/package-info.ts'
import { describeEmbedder } from './embedder.suite.ts'
import { loadEncoder } from './encoder.ts'
import { HybridIndex } from './hybrid-index.ts'
import { LexicalIndex } from './lexical-index.ts'
import { describeRetriever } from './retriever.suite.ts'
import { SemanticIndex } from './semantic-index.ts'
import { TextIndex } from './text-index.ts'
import { createTokenizer, type Tokenizer, termsOf } from './tokenize.ts'
import { describeTokenizer } from './tokenizer.suite.ts'

/** The plainest one there can be: it shows that the indexes take any. */
const spaces: Tokenizer = {
  words: (text) => text.toLowerCase().match(/\S+/g) ?? [],
  term: (word) => word,
}

const encoder = loadEncoder(encoderFile)

describeTokenizer('names and sentences', createTokenizer)
describeTokenizer('spaces', () => spaces)
describeEmbedder('the encoder that ships', () => encoder)
describeRetriever('lexical', () => new LexicalIndex(createTokenizer()))
describeRetriever('lexical, with another tokenizer', () => new LexicalIndex(spaces))
describeRetriever('semantic', () => new SemanticIndex(encoder))
describeRetriever('hybrid', () => new HybridIndex(new LexicalIndex(createTokenizer()), new SemanticIndex(encoder)))

describe('TextIndex', () => {
  const tokenizer = createTokenizer()
  const letters = fc.string({ unit: fc.constantFrom(...'aabBcC12_- .é天気') })

  it('reads the words that the tokenizer gives', () => {
    fc.assert(
      fc.property(fc.array(letters, { minLength: 1, maxLength: 4 }), (texts) => {
        const index = new TextIndex(tokenizer)
        for (const [position, description] of texts.entries()) index.add(position, { id: 'x', name: '-', description })
        for (const [position, description] of texts.entries()) {
          const counts = new Map<string, number>()
          for (const term of termsOf(tokenizer, description)) counts.set(term, (counts.get(term) ?? 0) + 1)
          for (const [term, count] of counts) {
            const { positions, weights } = index.postings('words', index.termOf(term) ?? -1)
            expect(weights[positions.indexOf(position)]).toBe(count)
          }
        }
      }),
    )
  })

  it('finds neighbours as a walk over every text does', () => {
    const word = fc.constantFrom('red', 'green', 'the', 'blue')
    const texts = fc.array(fc.array(word, { maxLength: 6 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(texts, word, word, (all, one, other) => {
        const index = new TextIndex(tokenizer)
        for (const [position, words] of all.entries())
          index.add(position, { id: 'x', name: 'red', category: 'blue', description: words.join(' ') })
        const [first, second] = [index.termOf(one), index.termOf(other)]
        if (first === undefined || second === undefined) return
        const { positions, weights } = index.pairPostings(first, second)
        const expected = all.map((words) => {
          const terms = words.filter((each) => each !== 'the')
          return terms.filter((term, at) => at > 0 && term === other && terms[at - 1] === one).length
        })
        expect(all.map((_, position) => weights[positions.indexOf(position)] ?? 0)).toEqual(expected)
      }),
    )
  })

  it('takes texts of any length', () => {
    const index = new TextIndex(tokenizer)
    const long = 'word '.repeat(100_000)
    expect(index.add(0, { id: 'x', name: 'a', description: long })).toBe(100_000)
    expect(index.add(1, { id: 'y', name: 'a', description: `${long}天気` })).toBe(100_001)
  })
})
