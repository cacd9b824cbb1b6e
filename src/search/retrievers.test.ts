import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encoderFile } from '../base/package-info.ts'
import type { SearchableTool } from '../contract/search.ts'
import { describeEmbedder } from './embedder.suite.ts'
import { loadEncoder } from './encoder.ts'
import { LexicalIndex, lexicalDefaults } from './lexical-index.ts'
import { describeRetriever } from './retriever.suite.ts'
import { SemanticIndex } from './semantic-index.ts'
import { createTokenizer, type Tokenizer, termsOf } from './tokenize.ts'
import { describeTokenizer } from './tokenizer.suite.ts'
import { fieldWeights, toolFields } from './tool-fields.ts'

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
describeRetriever('semantic', () => {
  const semantic = new SemanticIndex(encoder)
  return {
    add: (position, tool) => semantic.add(position, tool),
    remove: (position) => semantic.remove(position),
    rank(text, count) {
      const scores = new Float64Array(count)
      semantic.score(text, scores)
      return scores
    },
  }
})
describeRetriever('hybrid', () => {
  const [lexical, semantic] = [new LexicalIndex(createTokenizer()), new SemanticIndex(encoder)]
  return {
    add(position, tool) {
      lexical.add(position, tool)
      semantic.add(position, tool, lexical.wordsOf(position))
    },
    remove(position) {
      lexical.remove(position)
      semantic.remove(position)
    },
    rank(text, count) {
      const words = lexical.rank(text, count)
      const heights = semantic.measure(text)
      return heights === undefined ? words : semantic.fuse(words, heights, lexical.size)
    },
  }
})

const word = fc.constantFrom('red', 'green', 'the', 'Blue', 'greens', 'x9', '天気')
const words = fc.array(word, { maxLength: 6 }).map((all) => all.join(' '))
const tool = fc.record({
  id: fc.constant('t'),
  name: fc.array(word, { minLength: 1, maxLength: 3 }).map((all) => all.join('_')),
  category: words,
  description: words,
  inputSchema: words.map((description) => ({ type: 'object', properties: { green_red: { description } } })),
})

describe('LexicalIndex', () => {
  it('scores as a plain computation does', () => {
    fc.assert(
      fc.property(fc.array(tool, { minLength: 1, maxLength: 8 }), words, (tools, query) => {
        const index = new LexicalIndex(createTokenizer())
        for (const [position, each] of tools.entries()) index.add(position, each)
        const scores = Float64Array.from(index.rank(query, tools.length))
        for (const [position, expected] of plainScores(tools, query).entries())
          expect(scores[position]).toBeCloseTo(expected, 4)
        for (const [position, score] of scores.entries()) {
          const terms = index.terms(query)
          const parts = terms.reduce((sum, term) => sum + index.scoreOf(position, term), 0)
          expect(parts + index.nameCoverage(position, terms)).toBeCloseTo(score, 4)
        }
      }),
    )
  })

  it('takes texts of any length', () => {
    const index = new LexicalIndex(createTokenizer())
    const long = 'word '.repeat(100_000)
    index.add(0, { id: 'x', name: 'a', description: long })
    index.add(1, { id: 'y', name: 'a', description: `${long}天気` })
    const scores = index.rank('天気', 2)
    expect([scores[0], (scores[1] ?? 0) > 0]).toEqual([0, true])
  })
})

/** BM25 over weighted fields with pairs and names, written down as it is defined. */
function plainScores(tools: readonly SearchableTool[], query: string): readonly number[] {
  const { k1, b, pairs: pairWeight, nameCoverage } = lexicalDefaults
  const tokenizer = createTokenizer()
  const counted = tools.map((each) => {
    const counts = new Map<string, number>()
    const add = (term: string, weight: number) => counts.set(term, (counts.get(term) ?? 0) + weight)
    let length = 0
    for (const { field, text } of toolFields(each)) {
      const terms = termsOf(tokenizer, text)
      for (const term of terms) add(term, fieldWeights[field])
      for (const pair of pairsOf(terms)) add(pair, fieldWeights[field])
      length += terms.length * fieldWeights[field]
    }
    return { counts, length, name: new Set(termsOf(tokenizer, each.name)) }
  })
  const average = counted.reduce((sum, { length }) => sum + length, 0) / tools.length || 1
  const idf = (term: string) => {
    const found = counted.filter(({ counts }) => counts.has(term)).length
    return Math.log(1 + (tools.length - found + 0.5) / (found + 0.5))
  }
  const asked = termsOf(tokenizer, query)
  const terms = new Map([...asked.map((term) => [term, 1]), ...pairsOf(asked).map((pair) => [pair, pairWeight])] as [
    string,
    number,
  ][])
  return counted.map(({ counts, length, name }) => {
    let score = 0
    for (const [term, weight] of terms) {
      const count = counts.get(term) ?? 0
      score += (idf(term) * weight * (k1 + 1) * count) / (count + k1 * (1 - b + (b * length) / average))
    }
    const worth = (some: Iterable<string>) => [...some].reduce((sum, term) => sum + idf(term), 0)
    return name.size === 0
      ? score
      : score + (nameCoverage * worth([...name].filter((term) => asked.includes(term)))) / worth(name)
  })
}

const pairsOf = (terms: readonly string[]): readonly string[] =>
  terms.slice(1).map((term, index) => `${terms[index]} ${term}`)
