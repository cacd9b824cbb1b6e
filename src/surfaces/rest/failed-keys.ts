import { TooldexError } from '../../base/errors.ts'

const limits = { maxFailures: 20, withinMs: 60_000, maxEntries: 10_000 }

/** Counts wrong keys by the address that they come from and by their first characters. Valid keys are never delayed. */
export class FailedKeys {
  readonly #counts = new Map<string, { count: number; readonly since: number }>()

  /** Counts a wrong key and returns the error of the response. */
  refuse(address: string, prefix: string, now = Date.now()): TooldexError {
    const late = Math.max(this.#add(`address ${address}`, now), this.#add(`key ${prefix}`, now))
    if (late <= now) return new TooldexError('UNAUTHORIZED', 'The key is unknown, revoked or expired.')
    const retryAfter = Math.ceil((late - now) / 1000) + 1
    const hint = `Wait ${retryAfter} seconds before trying another key; a valid key is accepted at any time.`
    return new TooldexError(
      'TOO_BUSY',
      'Too many wrong keys from this address, or too many that begin like this one.',
      {
        hint,
        retryAfter,
      },
    )
  }

  /** Returns the end of the block, or 0 if the limit is not exceeded. */
  #add(name: string, now: number): number {
    const previous = this.#counts.get(name)
    const entry = previous === undefined || now - previous.since > limits.withinMs ? { count: 0, since: now } : previous
    entry.count++
    this.#counts.delete(name)
    this.#counts.set(name, entry)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > limits.maxEntries && oldest !== undefined) this.#counts.delete(oldest)
    return entry.count > limits.maxFailures ? entry.since + limits.withinMs : 0
  }
}
