/** Work on several items: one result for each, in their order. */
type Together<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>

interface Waiting<Item, Result> {
  readonly item: Item
  readonly weight: number
  readonly resolve: (result: Result) => void
  readonly reject: (reason: unknown) => void
}

interface BatchLimits {
  /** The maximum number of concurrent batches. */
  readonly atOnce: number
  /** The maximum number of items of a batch. */
  readonly maxItems: number
  /** The maximum weight of a batch; a single item may be heavier. */
  readonly maxWeight: number
  /** Whether items of a failed batch may succeed alone. */
  readonly isRetriable: (thrown: unknown) => boolean
}

/** Batches the items of one turn of the event loop, and those that arrive while the maximum number of batches runs. */
export class StatementBatcher<Item, Result> {
  readonly #work: Together<Item, Result>
  readonly #limits: BatchLimits
  readonly #waiting: Waiting<Item, Result>[] = []
  #running = 0

  constructor(work: Together<Item, Result>, limits: BatchLimits) {
    this.#work = work
    this.#limits = limits
  }

  do(item: Item, weight = 0): Promise<Result> {
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

  #takeSome(): readonly Waiting<Item, Result>[] {
    const { maxItems, maxWeight } = this.#limits
    let weight = 0
    const end = this.#waiting.findIndex((one, at) => {
      weight += one.weight
      return at > 0 && (at >= maxItems || weight > maxWeight)
    })
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end)
  }

  async #doAll(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#work(batch.map(({ item }) => item))
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as Result)
    } catch (thrown) {
      // An item must not fail because of another one.
      if (batch.length > 1 && this.#limits.isRetriable(thrown)) for (const one of batch) await this.#doAll([one])
      else for (const { reject } of batch) reject(thrown)
    }
  }
}
