/** Maximum steps of all suggestions about one input together. */
export const suggestionSteps = 400_000

/** Thrown when work on an input exceeds its budget; `where` names the part that exceeded it. */
export class OutOfBudget extends Error {
  readonly where: string

  constructor(where: string) {
    super(`too much work: ${where}`)
    this.where = where
  }
}

/**
 * Counts the steps of work whose size depends on the input. A step takes at most about 50 ns; counting gives the same result
 * on every machine, whatever its load.
 */
export class WorkBudget {
  readonly limit: number
  #spent = 0

  constructor(limit: number) {
    this.limit = limit
  }

  get isExceeded(): boolean {
    return this.#spent > this.limit
  }

  get spent(): number {
    return this.#spent
  }

  /** To be called before the work, so that OutOfBudget is thrown before it is done. */
  spend(steps: number, where: string): void {
    this.#spent += steps
    if (this.#spent > this.limit) throw new OutOfBudget(where)
  }
}
