import { setMaxListeners } from 'node:events'
import { TooldexError } from '../../base/errors.ts'
import type { KeyStore } from '../../contract/stores.ts'

// Notifications may be lost, and there is none when a key expires.
const checkEveryMs = 5000

/** Ends the waiting calls and open streams of a key when it expires or any replica revokes it. */
export class KeyWatch {
  readonly #keys: KeyStore
  readonly #inUse = new Map<string, AbortController>()
  readonly #onRevoked = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #checking: Promise<void> | undefined
  #stopListening: () => Promise<void> = async () => {}

  constructor(keys: KeyStore) {
    this.#keys = keys
  }

  async open(): Promise<void> {
    this.#stopListening = await this.#keys.listen((keyId) => {
      for (const listener of this.#onRevoked) listener()
      this.#end(keyId)
      void this.check()
    })
    this.#timer = setInterval(() => void this.check(), checkEveryMs)
    this.#timer.unref()
  }

  /** Calls back when a key was revoked somewhere. */
  onRevoked(listener: () => void): void {
    this.#onRevoked.add(listener)
  }

  /** A signal that is aborted with the error of the response when the key becomes invalid. */
  signalOf(keyId: string): AbortSignal {
    const known = this.#inUse.get(keyId) ?? new AbortController()
    if (!this.#inUse.has(keyId)) {
      // Every call of the key adds a listener.
      setMaxListeners(0, known.signal)
      this.#inUse.set(keyId, known)
    }
    return known.signal
  }

  /** Checks which keys in use are no longer valid. */
  check(): Promise<void> {
    this.#checking ??= this.#checkOnce()
      // If the database is unavailable, the next check retries.
      .catch(() => {})
      .finally(() => {
        this.#checking = undefined
      })
    return this.#checking
  }

  async #checkOnce(): Promise<void> {
    if (this.#inUse.size === 0) return
    for (const id of await this.#keys.findInvalid([...this.#inUse.keys()])) this.#end(id)
  }

  #end(keyId: string): void {
    const controller = this.#inUse.get(keyId)
    this.#inUse.delete(keyId)
    controller?.abort(new TooldexError('UNAUTHORIZED', 'The key was revoked or expired while the request ran.'))
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#stopListening().catch(() => {})
  }
}
