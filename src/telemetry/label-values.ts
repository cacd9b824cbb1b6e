/** Keeps the number of series bounded: after this many different values all others are one. */
export class LabelValues {
  readonly #most: number
  readonly #known = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  of(value: string): string {
    if (this.#known.has(value)) return value
    if (this.#known.size >= this.#most) return otherValue
    this.#known.add(value)
    return value
  }
}

/** What all values are called for which there is no room; no tool can have this name. */
export const otherValue = '(other)'
