/** Bounds of something that callers hold open. */
export interface SlotLimits {
  readonly total: number
  /** Keeps slots free for other callers. */
  readonly perCaller: number
}

/** Slots for open streams, bounded in all and for each caller. */
export class CallerSlots {
  readonly #limits: SlotLimits
  readonly #taken = new Map<string, number>()

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** Takes a slot; returns an idempotent function that releases it, or the number of slots taken if none is free. */
  take(caller: string): (() => void) | number {
    const own = this.#taken.get(caller) ?? 0
    const all = [...this.#taken.values()].reduce((sum, count) => sum + count, 0)
    if (own >= this.#limits.perCaller) return own
    if (all >= this.#limits.total) return all
    this.#taken.set(caller, own + 1)
    let isTaken = true
    return () => {
      if (isTaken) this.#release(caller)
      isTaken = false
    }
  }

  #release(caller: string): void {
    const left = (this.#taken.get(caller) ?? 1) - 1
    if (left > 0) this.#taken.set(caller, left)
    else this.#taken.delete(caller)
  }
}
