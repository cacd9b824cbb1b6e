/** Work on several items at once: one answer for each, in their order. */
type Together<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>

interface Waiting<Item, Answer> {
  readonly item: Item
  readonly weight: number
  readonly resolve: (answer: Answer) => void
  readonly reject: (reason: unknown) => void
}

interface GatherLimits {
  /** How many pieces of work are under way at most. */
  readonly atOnce: number
  /** How many items one takes at most. */
  readonly most: number
  /** How heavy they may be together; one alone may be heavier. */
  readonly maxWeight: number
  /** Whether what failed for all may go well for some. */
  readonly isWorthAnother: (thrown: unknown) => boolean
}

/** Does together what is asked for in one turn of the event loop, or while as much as may be is under way. */
export class StatementBatcher<Item, Answer> {
  readonly #work: Together<Item, Answer>
  readonly #limits: GatherLimits
  readonly #waiting: Waiting<Item, Answer>[] = []
  #running = 0

  constructor(work: Together<Item, Answer>, limits: GatherLimits) {
    this.#work = work
    this.#limits = limits
  }

  do(item: Item, weight = 0): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, weight, resolve, reject })
      if (this.#running >= this.#limits.atOnce) return
      this.#running++
      setImmediate(() => void this.#go())
    })
  }

  async #go(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#doAll(this.#takeSome())
    }
    this.#running--
  }

  #takeSome(): readonly Waiting<Item, Answer>[] {
    const { most, maxWeight } = this.#limits
    let weight = 0
    const end = this.#waiting.findIndex((one, at) => {
      weight += one.weight
      return at > 0 && (at >= most || weight > maxWeight)
    })
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end)
  }

  async #doAll(some: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.#work(some.map(({ item }) => item))
      for (const [at, { resolve }] of some.entries()) resolve(answers[at] as Answer)
    } catch (thrown) {
      // One must not fail for what another brought.
      if (some.length > 1 && this.#limits.isWorthAnother(thrown)) for (const one of some) await this.#doAll([one])
      else for (const { reject } of some) reject(thrown)
    }
  }
}
