import { TooldexError } from '../base/errors.ts'
import { hashJson } from '../base/hash-json.ts'

/** How many finished calls are remembered; the oldest is forgotten first. */
const maxRemembered = 1000

/** Makes a repeated call one call: the same key joins the run or gets its result, another body under it is refused. */
export class IdempotencyKeys {
  readonly #calls = new Map<string, { body: string; result: Promise<unknown> }>()

  run<T>(key: string | undefined, body: unknown, work: () => Promise<T>): Promise<T> {
    if (key === undefined) return work()
    const hash = hashJson(body)
    const known = this.#calls.get(key)
    if (known !== undefined) {
      if (known.body === hash) return known.result as Promise<T>
      throw new TooldexError('KEY_REUSED', 'The idempotency key was used for another call.')
    }
    const result = work()
    this.#calls.set(key, { body: hash, result })
    // A call that was refused did nothing, so its key is free again.
    result.catch(() => this.#calls.delete(key))
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > maxRemembered && oldest !== undefined) this.#calls.delete(oldest)
    return result
  }
}
