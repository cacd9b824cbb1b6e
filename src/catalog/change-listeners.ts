import type { CatalogEvent } from '../contract/catalog.ts'

/** Receives a change after it was made. */
export type ChangeListener = (event: CatalogEvent) => void

/** Sends events to listeners: each event to all, in their order, before the next event. */
export class ChangeListeners {
  readonly #subscriptions = new Set<{ readonly listener: ChangeListener }>()
  readonly #onError: (error: unknown) => void
  #waiting: CatalogEvent[] = []
  #sending = false

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Adds a listener; the returned function removes it, and may be called twice. */
  add(listener: ChangeListener): () => void {
    const subscription = { listener }
    this.#subscriptions.add(subscription)
    return () => void this.#subscriptions.delete(subscription)
  }

  /** Sends events; events caused by a listener are sent after the current ones. */
  send(events: readonly CatalogEvent[]): void {
    for (const event of events) this.#waiting.push(event)
    if (this.#sending) return
    this.#sending = true
    for (const event of this.#waiting) this.#sendToAll(event)
    this.#waiting = []
    this.#sending = false
  }

  #sendToAll(event: CatalogEvent): void {
    for (const subscription of [...this.#subscriptions]) {
      if (this.#subscriptions.has(subscription)) this.#sendToOne(subscription.listener, event)
    }
  }

  #sendToOne(listener: ChangeListener, event: CatalogEvent): void {
    try {
      const returned: unknown = listener(event)
      if (returned instanceof Promise) returned.catch((error) => this.#report(error))
    } catch (error) {
      this.#report(error)
    }
  }

  #report(error: unknown): void {
    try {
      this.#onError(error)
    } catch {
      // An error handler that throws must not stop the remaining listeners.
    }
  }
}
