import type { Embedder } from './encoder.ts'
import { createTokenizer, type Tokenizer, termsOf } from './tokenize.ts'
import { toCosine, VectorTable } from './vector-table.ts'

/** How experience is weighed; set once on public retrieval sets. Each bound keeps one habit from deciding everything. */
export const learningDefaults = {
  /** How many of the most alike past queries have a say. */
  nearest: 40,
  /** What one identical query would add, before the cap. */
  vote: 50,
  /** How much more the more alike ones count. */
  power: 1.75,
  /** The share of common words, beside meaning, in how alike two queries are. */
  words: 0.3,
  /** Of several tools that a past query led to, each gets the credit divided by their number to this power. */
  split: 0.25,
  /** No tool gains more than this. */
  cap: 60,
  /** The oldest is forgotten when there are more. */
  mostRemembered: 20_000,
}

export type LearningOptions = typeof learningDefaults

/** Example requests speak for their tool only when they are nearly what was asked: few of them do not show all it is for. */
export const exampleOptions: LearningOptions = {
  ...learningDefaults,
  nearest: 5,
  vote: 30,
  power: 5,
  cap: 40,
  mostRemembered: 1_000_000,
}

interface Entry {
  readonly terms: readonly string[]
  readonly toolIds: ReadonlySet<string>
}

/** What earlier queries led to: the most alike ones vote for the tools that answered them. */
export class PastQueries {
  readonly #options: LearningOptions
  readonly #embedder: Embedder | undefined
  readonly #tokenizer: Tokenizer = createTokenizer()
  readonly #vectors: VectorTable | undefined
  readonly #entries = new Map<number, Entry>()
  readonly #byText = new Map<string, number>()
  readonly #postings = new Map<string, Set<number>>()
  #next = 0

  constructor(embedder: Embedder | undefined, options: LearningOptions = learningDefaults) {
    this.#options = options
    this.#embedder = embedder
    this.#vectors = embedder === undefined ? undefined : new VectorTable(embedder.dim)
  }

  get size(): number {
    return this.#entries.size
  }

  /** Remembers that a query led to tools. The same words again add their tools, not a second vote. */
  add(query: string, toolIds: readonly string[]): void {
    const terms = [...new Set(termsOf(this.#tokenizer, query))].sort()
    if (terms.length === 0 || toolIds.length === 0) return
    const key = terms.join(' ')
    const known = this.#byText.get(key)
    if (known !== undefined) {
      const entry = this.#entries.get(known) as Entry
      this.#entries.set(known, { ...entry, toolIds: new Set([...entry.toolIds, ...toolIds]) })
      return
    }
    if (this.#entries.size >= this.#options.mostRemembered) this.#forgetOldest()
    const number = this.#next++
    this.#entries.set(number, { terms, toolIds: new Set(toolIds) })
    this.#byText.set(key, number)
    for (const term of terms) this.#postings.set(term, (this.#postings.get(term) ?? new Set()).add(number))
    this.#vectors?.set(this.#slot(number), this.#embedder?.embedQuery(query))
  }

  /** What each tool gains for a query; credit is split where a past query led to several tools. */
  votes(query: string): ReadonlyMap<string, number> {
    const { nearest, vote, power, split, cap } = this.#options
    const votes = new Map<string, number>()
    for (const [number, likeness] of this.#nearest(query).slice(0, nearest)) {
      const { toolIds } = this.#entries.get(number) as Entry
      const credit = (vote * likeness ** power) / toolIds.size ** split
      for (const id of toolIds) votes.set(id, (votes.get(id) ?? 0) + credit)
    }
    for (const [id, sum] of votes) votes.set(id, cap * (1 - Math.exp(-sum / cap)))
    return votes
  }

  /** Past queries by how alike they are, most alike first. */
  #nearest(query: string): readonly (readonly [number, number])[] {
    const share = this.#vectors === undefined ? 1 : this.#options.words
    const alike = this.#commonWords(query)
    for (const [number, likeness] of alike) alike.set(number, likeness * share)
    const vector = this.#embedder?.embedQuery(query)
    if (vector !== undefined && this.#vectors !== undefined) {
      const products = this.#vectors.products(vector)
      for (const number of this.#entries.keys()) {
        const cosine = toCosine(products[this.#slot(number)] ?? 0)
        if (cosine > 0) alike.set(number, (alike.get(number) ?? 0) + (1 - share) * cosine)
      }
    }
    return [...alike].sort((a, b) => b[1] - a[1] || a[0] - b[0])
  }

  /** The cosine of the words of two queries, rare ones counting more. */
  #commonWords(query: string): Map<number, number> {
    const alike = new Map<number, number>()
    const terms = new Set(termsOf(this.#tokenizer, query))
    for (const term of terms) {
      for (const number of this.#postings.get(term) ?? [])
        alike.set(number, (alike.get(number) ?? 0) + this.#idf(term) ** 2)
    }
    const length = this.#length(terms)
    for (const [number, sum] of alike)
      alike.set(number, sum / (length * this.#length((this.#entries.get(number) as Entry).terms)))
    return alike
  }

  #length(terms: Iterable<string>): number {
    let squares = 0
    for (const term of terms) squares += this.#idf(term) ** 2
    return Math.sqrt(squares) || 1
  }

  #idf(term: string): number {
    return Math.log(1 + (this.#entries.size + 0.5) / ((this.#postings.get(term)?.size ?? 0) + 0.5))
  }

  #forgetOldest(): void {
    const [oldest] = this.#entries.keys()
    const entry = oldest === undefined ? undefined : this.#entries.get(oldest)
    if (oldest === undefined || entry === undefined) return
    for (const term of entry.terms) {
      const numbers = this.#postings.get(term)
      numbers?.delete(oldest)
      if (numbers?.size === 0) this.#postings.delete(term)
    }
    this.#entries.delete(oldest)
    this.#byText.delete(entry.terms.join(' '))
    this.#vectors?.set(this.#slot(oldest), undefined)
  }

  /** Vectors live in a ring as large as what is remembered. */
  #slot(number: number): number {
    return number % this.#options.mostRemembered
  }
}
