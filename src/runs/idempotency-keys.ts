import { BoundedMap } from '../base/bounded-map.ts'
import { TooldexError } from '../base/errors.ts'
import { hashJson } from '../base/json-text.ts'

/** The maximum number of remembered calls; the oldest is dropped first. */
const maxRemembered = 1000

/** Deduplicates calls: the same key joins the run or gets its result; another body under the same key is rejected. */
export class IdempotencyKeys {
  readonly #calls = new BoundedMap<string, { body: string; result: Promise<unknown> }>(maxRemembered)

  run<T>(key: string | undefined, body: unknown, work: () => Promise<T>): Promise<T> {
    if (key === undefined) return work()
    const hash = hashJson(body)
    const earlier = this.#calls.get(key)
    if (earlier !== undefined) {
      if (earlier.body === hash) return earlier.result as Promise<T>
      throw new TooldexError('KEY_REUSED', 'The idempotency key was used for another call.')
    }
    const result = work()
    this.#calls.set(key, { body: hash, result })
    // A rejected call had no effect, so its key is free again.
    result.catch(() => this.#calls.delete(key))
    return result
  }
}
