/** Steps that all suggestions about one input may take together. */
export const suggestionSteps = 400_000

/** Thrown when work on an input costs more than its budget; `where` names the part that used it up. */
export class OutOfBudget extends Error {
  readonly where: string

  constructor(where: string) {
    super(`too much work: ${where}`)
    this.where = where
  }
}

/**
 * Counts the steps of work whose size the input decides. A step is what takes at most about 50 ns, so counting gives the same
 * result on every machine, however busy it is.
 */
export class WorkBudget {
  readonly limit: number
  #spent = 0

  constructor(limit: number) {
    this.limit = limit
  }

  get spent(): number {
    return this.#spent
  }

  /** Throws OutOfBudget before the work is done, not after it. */
  spend(steps: number, where: string): void {
    this.#spent += steps
    if (this.#spent > this.limit) throw new OutOfBudget(where)
  }
}
