import type { SearchableTool } from '../contract/search.ts'
import { type ManyToolWords, TextIndex, type ToolWords } from './text-index.ts'
import type { Query } from './text-kernel.ts'
import { type Tokenizer, termsOf } from './tokenize.ts'

/** The parameters of BM25 and its additions, tuned once on public retrieval sets; the same for every catalog. */
export const lexicalDefaults = {
  k1: 1.5,
  b: 0.5,
  /** The weight of two adjacent words of the query that are adjacent in the tool, too. */
  pairs: 0.6,
  /** Added in full if the whole name of a tool is in the query. */
  nameCoverage: 6,
}

/** The weights of the words of a query by term; 1 for those that are not listed. */
export type TermWeights = ReadonlyMap<string, number>

/** The weights of the words of a query, and the words that stand for some of them. */
export interface TermOptions {
  readonly weights?: TermWeights | undefined
  readonly near?: TermWeights | undefined
}

/** The lookup terms of a query: its words, and pairs of adjacent ones. */
export interface QueryTerm {
  readonly key: number
  /** For a pair: the previous word. */
  readonly after?: number
  readonly term: string
  readonly weight: number
  /** Set for a word that stands for one of the query. */
  readonly isNear?: true
}

/**
 * BM25 over weighted fields. Postings are kept per term, so adding or removing a tool takes time for its own words only.
 */
export class LexicalIndex {
  readonly tokenizer: Tokenizer
  readonly #texts: TextIndex
  /** The number of tools with each pair of the last ranked query. */
  #pairs = new Map<string, number>()
  constructor(tokenizer: Tokenizer) {
    this.tokenizer = tokenizer
    this.#texts = new TextIndex(tokenizer)
  }

  get size(): number {
    return this.#texts.size
  }

  /** The words of a tool, for other indexes. */
  wordsOf(position: number): ToolWords {
    return this.#texts.wordsOf(position)
  }

  /** The words of all tools in batches, with the position of the first. */
  *allWords(step: number): Iterable<{ readonly first: number; readonly words: ManyToolWords }> {
    for (let first = 0; first < this.#texts.end; first += step)
      yield { first, words: this.#texts.wordsBetween(first, Math.min(first + step, this.#texts.end)) }
  }

  /** Candidate positions of tools whose name or id is the query. */
  findNames(query: string): readonly number[] {
    return this.#texts.findNames(query)
  }

  add(position: number, tool: SearchableTool): void {
    this.#texts.add(position, tool)
  }

  remove(position: number): void {
    this.#texts.remove(position)
  }

  /** The scores of a query, by position; valid until the next query or change. */
  rank(text: string, count: number, { weights, near }: TermOptions = {}): Float64Array {
    const query = this.#refreshed()
    query.startQuery()
    const terms = this.terms(text, { weights, near })
    this.#pairs = new Map()
    for (const { key, after, term, weight } of terms) {
      if (after === undefined) query.addTerm(key, weight)
      else this.#pairs.set(term, query.addPair(after, key, weight))
    }
    for (const { key, after, isNear } of terms) if (after === undefined && !isNear) query.addNameTerm(key)
    query.finishNames(lexicalDefaults.nameCoverage)
    return this.#texts.scores(count)
  }

  /** The unique terms of a query, and its pairs; unknown ones are dropped. */
  terms(text: string, { weights = noWeights, near = noWeights }: TermOptions = {}): readonly QueryTerm[] {
    const words = new Map<number, QueryTerm>()
    const pairs = new Map<string, QueryTerm>()
    let before: { key: number; word: string } | undefined
    for (const word of termsOf(this.tokenizer, text)) {
      const key = this.#texts.termOf(word)
      if (key !== undefined) {
        words.set(key, { key, term: word, weight: weights.get(word) ?? 1 })
        if (before !== undefined) {
          const term = `${before.word} ${word}`
          pairs.set(term, { key, after: before.key, term, weight: lexicalDefaults.pairs })
        }
      }
      before = key === undefined ? undefined : { key, word }
    }
    for (const [term, weight] of near) {
      const key = this.#texts.termOf(term)
      if (key !== undefined && !words.has(key)) words.set(key, { key, term, weight, isNear: true })
    }
    return [...words.values(), ...pairs.values()]
  }

  /** The weight of a term by the number of tools with it. */
  rarity(term: string): number {
    return this.#refreshed().idf(this.countOf(term))
  }

  /** The score of a tool with every word of a query: unknown words count as the rarest. */
  ideal(text: string): number {
    const query = this.#refreshed()
    const words = new Set(termsOf(this.tokenizer, text))
    let sum = 0
    for (const word of words) sum += query.idf(this.countOf(word))
    return sum * (lexicalDefaults.k1 + 1)
  }

  /** The share of one term of the last ranked query in the score of one tool. */
  scoreOf(position: number, { key, after, term, weight }: QueryTerm): number {
    const query = this.#refreshed()
    if (after === undefined) return query.scoreOf(position, key, weight)
    return query.scoreOfPair(position, after, key, this.#pairs.get(term) ?? 0, weight)
  }

  /** The score of the share of a tool's name that is in the query; rare words of the name weigh more. */
  nameCoverage(position: number, terms: readonly QueryTerm[]): number {
    const query = this.#refreshed()
    let share = 0
    // A plain loop: the facets of a query call this for every tool.
    for (const { key, after, isNear } of terms)
      if (after === undefined && !isNear) share += query.coverageOf(position, key)
    return share * lexicalDefaults.nameCoverage
  }

  /** Known words with their number of tools, for the correction of typos. */
  *vocabulary(): Iterable<{ readonly known: string; readonly count: number }> {
    for (const [term, known] of this.#texts.terms().entries()) yield { known, count: this.#texts.sizeOf(term) }
  }

  /** The number of tools with a word. */
  countOf(word: string): number {
    const id = this.#texts.termOf(word)
    return id === undefined ? 0 : this.#texts.sizeOf(id)
  }

  #refreshed(): Query {
    const { query } = this.#texts
    query.refresh(lexicalDefaults.k1, lexicalDefaults.b)
    return query
  }
}

const noWeights: TermWeights = new Map()
