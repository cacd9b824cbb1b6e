import type { Retriever, RetrieverQuery, SearchableTool } from '../contract/search.ts'
import { PostingTable } from './postings.ts'
import type { Tokenizer } from './tokenize.ts'
import { fieldWeights, toolFields } from './tool-fields.ts'

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
  readonly term: string
  readonly weight: number
}

/** BM25 over weighted fields. Postings are kept per term, so a tool comes and goes in the time its own words take. */
export class LexicalIndex implements Retriever {
  readonly mode = 'bm25'
  readonly #tokenize: Tokenizer
  readonly #ids = new Map<string, number>()
  readonly #postings = new PostingTable()
  /** Where a term is part of the name. */
  readonly #named = new PostingTable()
  readonly #names: (readonly number[] | undefined)[] = []
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

  constructor(tokenize: Tokenizer) {
    this.#tokenize = tokenize
  }

  add(position: number, tool: SearchableTool): void {
    const { counts, length, name } = this.#read(tool)
    for (const [key, weight] of counts) this.#postings.add(key, position, weight)
    for (const word of name) this.#named.add(word, position, 1)
    this.#grow(position)
    this.#names[position] = name
    this.#lengths[position] = length
    this.#totalLength += length
    this.#count++
    this.#changes++
  }

  remove(position: number, tool: SearchableTool): void {
    const { counts, length, name } = this.#read(tool)
    for (const key of counts.keys()) this.#postings.remove(key, position)
    for (const word of name) this.#named.remove(word, position)
    this.#names[position] = undefined
    this.#lengths[position] = 0
    this.#totalLength -= length
    this.#count--
    this.#changes++
  }

  score({ text }: RetrieverQuery, scores: Float64Array): void {
    this.#refreshNorms()
    const terms = this.terms(text)
    const norms = this.#norms
    for (const { key, weight } of terms) {
      const { positions, weights, size } = this.#postings.get(key)
      if (size === 0) continue
      const factor = this.#idf(size) * weight * (lexicalDefaults.k1 + 1)
      for (let index = 0; index < size; index++) {
        const position = positions[index] as number
        const count = weights[index] as number
        scores[position] = (scores[position] as number) + (factor * count) / (count + (norms[position] as number))
      }
    }
    this.#addNameCoverage(terms, scores)
  }

  /** The terms of a query, each once, and its pairs; those that no tool has are left out. */
  terms(text: string): readonly QueryTerm[] {
    const terms = new Map<number, QueryTerm>()
    let before: { id: number; word: string } | undefined
    for (const word of this.#tokenize(text)) {
      const id = this.#ids.get(word)
      if (id !== undefined) {
        terms.set(id, { key: id, term: word, weight: 1 })
        if (before !== undefined) {
          const key = pairKey(before.id, id)
          terms.set(key, { key, term: `${before.word} ${word}`, weight: lexicalDefaults.pairs })
        }
      }
      before = id === undefined ? undefined : { id, word }
    }
    return [...terms.values()]
  }

  /** What a tool would get for having every word of a query: unknown words count as the rarest. */
  ideal(text: string): number {
    const words = new Set(this.#tokenize(text))
    let sum = 0
    for (const word of words) sum += this.#idf(this.countOf(word))
    return sum * (lexicalDefaults.k1 + 1)
  }

  /** What one term adds to the score of one tool. */
  scoreOf(position: number, { key, weight }: QueryTerm): number {
    this.#refreshNorms()
    const count = this.#postings.weightOf(key, position)
    if (count === 0) return 0
    const factor = this.#idf(this.#postings.sizeOf(key)) * weight * (lexicalDefaults.k1 + 1)
    return (factor * count) / (count + (this.#norms[position] as number))
  }

  /** What the share of a tool's name that is in the query adds; rare words of the name count for more of it. */
  nameCoverage(position: number, terms: readonly QueryTerm[]): number {
    const keys = new Set(terms.map(({ key }) => key))
    const words = (this.#names[position] ?? []).filter((word) => keys.has(word))
    const found = words.reduce((sum, word) => sum + this.#idf(this.#postings.sizeOf(word)), 0)
    return found === 0 ? 0 : (lexicalDefaults.nameCoverage * found) / this.#nameTotal(position)
  }

  /** Known words, for finding what a mistyped one may have meant. */
  vocabulary(): Iterable<string> {
    return this.#ids.keys()
  }

  /** How many tools have a word. */
  countOf(word: string): number {
    const id = this.#ids.get(word)
    return id === undefined ? 0 : this.#postings.sizeOf(id)
  }

  /** Rare terms say more. */
  #idf(found: number): number {
    return Math.log(1 + (this.#count - found + 0.5) / (found + 0.5))
  }

  /** Only tools whose name has a word of the query can gain, so only those are looked at. */
  #addNameCoverage(terms: readonly QueryTerm[], scores: Float64Array): void {
    const found = this.#found
    const touched: number[] = []
    for (const { key } of terms) {
      const { positions, size } = this.#named.get(key)
      if (size === 0) continue
      const idf = this.#idf(this.#postings.sizeOf(key))
      for (let index = 0; index < size; index++) {
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
      for (const word of this.#names[position] ?? []) total += this.#idf(this.#postings.sizeOf(word))
      this.#nameTotals[position] = total
      this.#nameTotalsOf[position] = this.#changes
    }
    return this.#nameTotals[position] as number
  }

  #read(tool: SearchableTool) {
    const counts = new Map<number, number>()
    const count = (key: number, weight: number) => counts.set(key, (counts.get(key) ?? 0) + weight)
    let length = 0
    let name: readonly number[] = []
    for (const { field, text } of toolFields(tool)) {
      const weight = fieldWeights[field]
      const ids = this.#tokenize(text).map((word) => this.#idOf(word))
      if (field === 'name') name = [...new Set(ids)]
      length += ids.length * weight
      for (const [index, id] of ids.entries()) {
        count(id, weight)
        if (index > 0) count(pairKey(ids[index - 1] as number, id), weight)
      }
    }
    return { counts, length, name }
  }

  #idOf(word: string): number {
    const known = this.#ids.get(word)
    if (known !== undefined) return known
    const id = this.#ids.size
    this.#ids.set(word, id)
    return id
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

// Words have numbers below this; a pair is two of them in one number, above all words.
const mostWords = 2 ** 24

const pairKey = (first: number, second: number): number => (first + 1) * mostWords + second
