import type { Embedder } from './encoder.ts'
import { takeBest } from './take-best.ts'
import { createTokenizer, type Tokenizer, termsOf } from './tokenize.ts'
import { toCosine, VectorTable } from './vector-table.ts'

/** The weights of experience, tuned once on public retrieval sets. Each bound keeps one habit from dominating. */
export const learningDefaults = {
  /** The number of most similar past queries that vote. The cost of a query grows with its square. */
  nearest: 32,
  /** The boost of a tool if all experience were in its favor, before the cap. */
  vote: 85,
  /** The exponent that favors more similar queries. */
  power: 1,
  /** The share of common words, beside meaning, in the similarity of two queries. */
  words: 0.6,
  /** The distrust of a single query: an identical one has the vote 1 / (1 + noise). */
  noise: 1,
  /** The credit of a past query with several tools is divided by their number to this power. */
  split: 0.25,
  /** The maximum boost of a tool. */
  cap: 60,
  /** The maximum number of remembered queries; the oldest is dropped first. */
  maxRemembered: 20_000,
}

type LearningOptions = typeof learningDefaults

/** Example requests count only if they are nearly the query: a few of them do not cover all uses of a tool. */
export const exampleOptions: LearningOptions = {
  ...learningDefaults,
  nearest: 5,
  vote: 60,
  power: 5,
  words: 0.3,
  cap: 40,
  maxRemembered: 1_000_000,
}

interface Entry {
  readonly key: string
  readonly toolIds: ReadonlySet<string>
}

/** Past queries and their tools: the most similar ones vote for the tools that were called. */
export class PastQueries {
  readonly #options: LearningOptions
  readonly #embedder: Embedder | undefined
  readonly #tokenizer: Tokenizer = createTokenizer()
  readonly #vectors: VectorTable | undefined
  readonly #words = new QueryWords()
  /** A ring buffer of the maximum number of remembered queries. */
  readonly #entries: (Entry | undefined)[] = []
  readonly #byKey = new Map<string, number>()
  #next = 0

  constructor(embedder: Embedder | undefined, options: LearningOptions = learningDefaults) {
    this.#options = options
    this.#embedder = embedder
    this.#vectors = embedder === undefined ? undefined : new VectorTable(embedder.dim)
  }

  get size(): number {
    return this.#byKey.size
  }

  /** Remembers that a query led to tools. A repeated query adds its tools, not a second vote. */
  add(query: string, toolIds: readonly string[]): void {
    const terms = [...new Set(termsOf(this.#tokenizer, query))].sort()
    if (terms.length === 0 || toolIds.length === 0) return
    const key = terms.join(' ')
    const known = this.#byKey.get(key)
    if (known !== undefined) {
      const before = this.#entries[known]?.toolIds ?? []
      this.#entries[known] = { key, toolIds: new Set([...before, ...toolIds]) }
      return
    }
    const slot = this.#next++ % this.#options.maxRemembered
    this.#forget(slot)
    this.#entries[slot] = { key, toolIds: new Set(toolIds) }
    this.#byKey.set(key, slot)
    this.#words.add(slot, terms)
    this.#vectors?.set(slot, this.#embedder?.embedQuery(query))
  }

  /** The boost of each tool for a query; credit is split if a past query led to several tools. */
  votes(query: string): ReadonlyMap<string, number> {
    const { nearest, vote, power, noise, split, cap } = this.#options
    const alike = this.#compare(query)
    const key = (slot: number): string => this.#entries[slot]?.key ?? ''
    const { best } = takeBest({ ranks: alike, limit: nearest, before: (a, b) => key(a) < key(b) })
    const likeness = best.map((slot) => (alike[slot] as number) ** power)
    const weights = weighAlike(this.#compareEach(best), likeness, noise)
    const votes = new Map<string, number>()
    for (const [at, slot] of best.entries()) {
      const { toolIds } = this.#entries[slot] as Entry
      const credit = (vote * (weights[at] as number)) / toolIds.size ** split
      if (credit > 0) for (const id of toolIds) votes.set(id, Math.min((votes.get(id) ?? 0) + credit, cap))
    }
    return votes
  }

  /** The similarity of each past query, by words and by meaning. */
  #compare(query: string): Float64Array {
    const alike = new Float64Array(this.#entries.length)
    this.#words.compare(new Set(termsOf(this.#tokenizer, query)), this.#share, alike)
    const vector = this.#embedder?.embedQuery(query)
    if (vector === undefined || this.#vectors === undefined) return alike
    const products = this.#vectors.products(vector)
    const scale = (1 - this.#share) * toCosine(1)
    for (let slot = 0; slot < products.length; slot++)
      alike[slot] = (alike[slot] as number) + scale * Math.max(products[slot] as number, 0)
    return alike
  }

  /** The similarities of some past queries to each other. */
  #compareEach(slots: readonly number[]): Float64Array {
    const matrix = new Float64Array(slots.length ** 2)
    this.#words.compareEach(slots, this.#share, matrix)
    this.#vectors?.compareEach(slots, 1 - this.#share, matrix)
    return this.#options.power === 1 ? matrix : matrix.map((likeness) => likeness ** this.#options.power)
  }

  get #share(): number {
    return this.#vectors === undefined ? 1 : this.#options.words
  }

  #forget(slot: number): void {
    const entry = this.#entries[slot]
    if (entry === undefined) return
    this.#byKey.delete(entry.key)
    this.#words.remove(slot)
    this.#vectors?.set(slot, undefined)
  }
}

/**
 * The vote of each neighbor: the weights that best explain its similarity to a query, by ridge regression. Similar neighbors
 * share one vote, so that frequent queries do not outvote the others.
 *
 *   (matrix + noise x identity) weights = similarity, by Cholesky; negative weights are dropped.
 */
export function weighAlike(matrix: Float64Array, likeness: readonly number[], noise: number): readonly number[] {
  const size = likeness.length
  const lower = factorize(matrix, size, noise)
  const at = (row: number, column: number): number => lower[row * size + column] as number
  const weights = Float64Array.from(likeness)
  for (let row = 0; row < size; row++) {
    let rest = weights[row] as number
    for (let column = 0; column < row; column++) rest -= at(row, column) * (weights[column] as number)
    weights[row] = rest / at(row, row)
  }
  for (let row = size - 1; row >= 0; row--) {
    let rest = weights[row] as number
    for (let below = row + 1; below < size; below++) rest -= at(below, row) * (weights[below] as number)
    weights[row] = rest / at(row, row)
  }
  return Array.from(weights, (weight) => Math.max(weight, 0))
}

/** The lower triangle whose square is the matrix with noise added to its diagonal. */
function factorize(matrix: Float64Array, size: number, noise: number): Float64Array {
  const lower = new Float64Array(size * size)
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let rest = (matrix[row * size + column] as number) + (row === column ? noise : 0)
      for (let before = 0; before < column; before++)
        rest -= (lower[row * size + before] as number) * (lower[column * size + before] as number)
      // Similarities clipped at zero are not quite a kernel; the minimum keeps the root real.
      lower[row * size + column] =
        row === column ? Math.sqrt(Math.max(rest, minPivot)) : rest / (lower[column * size + column] as number)
    }
  }
  return lower
}

const minPivot = 1e-3

/** The words of remembered queries: the similarity of two queries by words, rare words weighing more. */
export class QueryWords {
  readonly #terms = new Map<number, readonly string[]>()
  readonly #postings = new Map<string, Set<number>>()
  /** Both change with every added query and are recomputed on demand; a length needs weights. */
  readonly #weights = new Map<string, number>()
  #lengths = new Float64Array(64)

  add(slot: number, terms: readonly string[]): void {
    this.#terms.set(slot, terms)
    if (slot >= this.#lengths.length) this.#lengths = new Float64Array(slot * 2)
    for (const term of terms) this.#postings.set(term, (this.#postings.get(term) ?? new Set()).add(slot))
    this.#forgetSums()
  }

  remove(slot: number): void {
    for (const term of this.#terms.get(slot) ?? []) {
      const slots = this.#postings.get(term)
      slots?.delete(slot)
      if (slots?.size === 0) this.#postings.delete(term)
    }
    this.#terms.delete(slot)
    this.#forgetSums()
  }

  /** Adds the cosine of the words with each remembered query that shares one, times a share. */
  compare(terms: ReadonlySet<string>, share: number, alike: Float64Array): void {
    const scale = share / this.#lengthOf(terms)
    for (const term of terms) {
      const weight = this.#weight(term) * scale
      for (const slot of this.#postings.get(term) ?? [])
        alike[slot] = (alike[slot] as number) + weight / this.#length(slot)
    }
  }

  /** Adds the cosines of the words of some remembered queries with each other, row by row, times a share. */
  compareEach(slots: readonly number[], share: number, matrix: Float64Array): void {
    const size = slots.length
    const scales = slots.map((slot) => Math.sqrt(share) / this.#length(slot))
    for (const [term, rows] of this.#holdersAmong(slots)) {
      const weight = this.#weight(term)
      for (const row of rows) {
        const scaled = weight * (scales[row] as number)
        for (const column of rows)
          matrix[row * size + column] = (matrix[row * size + column] as number) + scaled * (scales[column] as number)
      }
    }
  }

  /** The queries with each word, by their position in the list. */
  #holdersAmong(slots: readonly number[]): ReadonlyMap<string, readonly number[]> {
    const holders = new Map<string, number[]>()
    for (const [at, slot] of slots.entries()) {
      for (const term of this.#terms.get(slot) ?? []) {
        const rows = holders.get(term)
        if (rows === undefined) holders.set(term, [at])
        else rows.push(at)
      }
    }
    return holders
  }

  #length(slot: number): number {
    const cached = this.#lengths[slot] as number
    if (cached > 0) return cached
    const length = this.#lengthOf(this.#terms.get(slot) ?? [])
    this.#lengths[slot] = length
    return length
  }

  #lengthOf(terms: Iterable<string>): number {
    let squares = 0
    for (const term of terms) squares += this.#weight(term)
    return Math.sqrt(squares) || 1
  }

  /** The squared rarity of a word. */
  #weight(term: string): number {
    const known = this.#weights.get(term)
    if (known !== undefined) return known
    const holders = this.#postings.get(term)?.size ?? 0
    const weight = Math.log(1 + (this.#terms.size + 0.5) / (holders + 0.5)) ** 2
    // Unknown words are not stored: their number is unbounded.
    if (holders > 0) this.#weights.set(term, weight)
    return weight
  }

  #forgetSums(): void {
    if (this.#weights.size === 0) return
    this.#weights.clear()
    this.#lengths.fill(0)
  }
}
