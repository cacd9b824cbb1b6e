/** Bounds the number of series: after `max` different values, all others share one label. */
export class LabelValues {
  readonly #max: number
  readonly #values = new Set<string>()

  constructor(max: number) {
    this.#max = max
  }

  of(value: string): string {
    if (this.#values.has(value)) return value
    if (this.#values.size >= this.#max) return otherValue
    this.#values.add(value)
    return value
  }
}

/** The label of all values beyond the limit; no tool can have this name. */
export const otherValue = '(other)'
