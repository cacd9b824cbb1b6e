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
