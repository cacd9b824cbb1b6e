import type { Retriever, RetrieverQuery, SearchableTool } from '../contract/search.ts'
import { type PostingList, TextIndex, type ToolWords } from './text-index.ts'
import { type Tokenizer, termsOf } from './tokenize.ts'

/** The knobs of BM25 and what is added to it; set once on public retrieval sets, the same for every catalogue. */
export const lexicalDefaults = {
  k1: 1.5,
  b: 0.5,
  /** What two neighbouring words of the query count where they are neighbours in the tool too. */
  pairs: 0.6,
  /** Added in full when the whole name of a tool is in the query. */
  nameCoverage: 6,
}

/** What a query is looked up by: its words and the pairs of neighbours among them. */
export interface QueryTerm {
  readonly key: number
  /** For a pair: the word before. */
  readonly after?: number
  readonly term: string
  readonly weight: number
}

/** BM25 over weighted fields. Postings are kept per term, so a tool comes and goes in the time its own words take. */
export class LexicalIndex implements Retriever {
  readonly mode = 'bm25'
  readonly #tokenizer: Tokenizer
  readonly #texts: TextIndex
  #lengths = new Float32Array(64)
  #norms = new Float32Array(64)
  #normsOf = 0
  /** Scratch of one query, zero in between. */
  #found = new Float64Array(64)
  #nameTotals = new Float64Array(64)
  #nameTotalsOf = new Float64Array(64)
  #changes = 1
  #totalLength = 0
  #count = 0

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer
    this.#texts = new TextIndex(tokenizer)
  }

  /** How many tools there are. */
  get size(): number {
    return this.#count
  }

  /** The words of a tool, for other indexes. */
  wordsOf(position: number): ToolWords {
    return this.#texts.wordsOf(position)
  }

  add(position: number, tool: SearchableTool): void {
    const length = this.#texts.add(position, tool)
    this.#grow(position)
    this.#lengths[position] = length
    this.#totalLength += length
    this.#count++
    this.#changes++
  }

  remove(position: number): void {
    this.#texts.remove(position)
    this.#totalLength -= this.#lengths[position] as number
    this.#lengths[position] = 0
    this.#count--
    this.#changes++
  }

  score({ text }: RetrieverQuery, scores: Float64Array): void {
    this.#refreshNorms()
    const terms = this.terms(text)
    const norms = this.#norms
    for (const term of terms) {
      const { positions, weights } = this.#postings(term)
      if (positions.length === 0) continue
      const factor = this.#idf(positions.length) * term.weight * (lexicalDefaults.k1 + 1)
      for (let index = 0; index < positions.length; index++) {
        const position = positions[index] as number
        const count = weights[index] as number
        scores[position] = (scores[position] as number) + (factor * count) / (count + (norms[position] as number))
      }
    }
    this.#addNameCoverage(terms, scores)
  }

  /** The terms of a query, each once, and its pairs; those that no tool has are left out. */
  terms(text: string): readonly QueryTerm[] {
    const words = new Map<number, QueryTerm>()
    const pairs = new Map<string, QueryTerm>()
    let before: { key: number; word: string } | undefined
    for (const word of termsOf(this.#tokenizer, text)) {
      const key = this.#texts.termOf(word)
      if (key !== undefined) {
        words.set(key, { key, term: word, weight: 1 })
        if (before !== undefined) {
          const term = `${before.word} ${word}`
          pairs.set(term, { key, after: before.key, term, weight: lexicalDefaults.pairs })
        }
      }
      before = key === undefined ? undefined : { key, word }
    }
    return [...words.values(), ...pairs.values()]
  }

  /** What a tool would get for having every word of a query: unknown words count as the rarest. */
  ideal(text: string): number {
    const words = new Set(termsOf(this.#tokenizer, text))
    let sum = 0
    for (const word of words) sum += this.#idf(this.countOf(word))
    return sum * (lexicalDefaults.k1 + 1)
  }

  /** What one term adds to the score of one tool. */
  scoreOf(position: number, term: QueryTerm): number {
    this.#refreshNorms()
    const { positions, weights } = this.#postings(term)
    const count = weights[positions.indexOf(position)] ?? 0
    if (count === 0) return 0
    const factor = this.#idf(positions.length) * term.weight * (lexicalDefaults.k1 + 1)
    return (factor * count) / (count + (this.#norms[position] as number))
  }

  /** What the share of a tool's name that is in the query adds; rare words of the name count for more of it. */
  nameCoverage(position: number, terms: readonly QueryTerm[]): number {
    const keys = new Set(terms.filter(({ after }) => after === undefined).map(({ key }) => key))
    const words = this.#texts.nameOf(position).filter((word) => keys.has(word))
    const found = words.reduce((sum, word) => sum + this.#idf(this.#texts.sizeOf('words', word)), 0)
    return found === 0 ? 0 : (lexicalDefaults.nameCoverage * found) / this.#nameTotal(position)
  }

  /** Known words, for finding what a mistyped one may have meant. */
  vocabulary(): Iterable<string> {
    return this.#texts.terms()
  }

  /** How many tools have a word. */
  countOf(word: string): number {
    const id = this.#texts.termOf(word)
    return id === undefined ? 0 : this.#texts.sizeOf('words', id)
  }

  /** Rare terms say more. */
  #idf(found: number): number {
    return Math.log(1 + (this.#count - found + 0.5) / (found + 0.5))
  }

  /** Only tools whose name has a word of the query can gain, so only those are looked at. */
  #addNameCoverage(terms: readonly QueryTerm[], scores: Float64Array): void {
    const found = this.#found
    const touched: number[] = []
    for (const { key, after } of terms) {
      if (after !== undefined) continue
      const { positions } = this.#texts.postings('names', key)
      const idf = this.#idf(this.#texts.sizeOf('words', key))
      for (let index = 0; index < positions.length; index++) {
        const position = positions[index] as number
        if (found[position] === 0) touched.push(position)
        found[position] = (found[position] as number) + idf
      }
    }
    for (const position of touched) {
      const share = (found[position] as number) / this.#nameTotal(position)
      scores[position] = (scores[position] as number) + lexicalDefaults.nameCoverage * share
      found[position] = 0
    }
  }

  /** What all words of a tool's name together would give; worked out again after a change, and only where it is asked for. */
  #nameTotal(position: number): number {
    if (this.#nameTotalsOf[position] !== this.#changes) {
      let total = 0
      for (const word of this.#texts.nameOf(position)) total += this.#idf(this.#texts.sizeOf('words', word))
      this.#nameTotals[position] = total
      this.#nameTotalsOf[position] = this.#changes
    }
    return this.#nameTotals[position] as number
  }

  #postings({ key, after }: QueryTerm): PostingList {
    return after === undefined ? this.#texts.postings('words', key) : this.#texts.pairPostings(after, key)
  }

  #grow(position: number): void {
    if (position < this.#lengths.length) return
    const lengths = new Float32Array(Math.max(position + 1, this.#lengths.length * 2))
    lengths.set(this.#lengths)
    this.#lengths = lengths
    this.#norms = new Float32Array(lengths.length)
    this.#found = new Float64Array(lengths.length)
    this.#nameTotals = new Float64Array(lengths.length)
    this.#nameTotalsOf = new Float64Array(lengths.length)
  }

  /** The length part of BM25 depends on the average, which every change moves. */
  #refreshNorms(): void {
    if (this.#normsOf === this.#changes) return
    const { k1, b } = lexicalDefaults
    const average = this.#count === 0 ? 1 : this.#totalLength / this.#count || 1
    for (let position = 0; position < this.#lengths.length; position++) {
      this.#norms[position] = k1 * (1 - b + (b * (this.#lengths[position] as number)) / average)
    }
    this.#normsOf = this.#changes
  }
}
