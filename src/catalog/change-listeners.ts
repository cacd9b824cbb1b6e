import type { CatalogEvent } from '../contract/catalog.ts'

/** Hears of a change after it was made. */
export type ChangeListener = (event: CatalogEvent) => void

/** Tells listeners of events: each event to all, in their order, before the next event. */
export class ChangeListeners {
  readonly #subscriptions = new Set<{ readonly listener: ChangeListener }>()
  readonly #onError: (error: unknown) => void
  #waiting: CatalogEvent[] = []
  #telling = false

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Adds a listener; the function returned removes it, and may be called twice. */
  add(listener: ChangeListener): () => void {
    const subscription = { listener }
    this.#subscriptions.add(subscription)
    return () => void this.#subscriptions.delete(subscription)
  }

  /** Tells of events; those that a listener causes come after the ones under way. */
  tell(events: readonly CatalogEvent[]): void {
    for (const event of events) this.#waiting.push(event)
    if (this.#telling) return
    this.#telling = true
    for (const event of this.#waiting) this.#tellAll(event)
    this.#waiting = []
    this.#telling = false
  }

  #tellAll(event: CatalogEvent): void {
    for (const subscription of [...this.#subscriptions]) {
      if (this.#subscriptions.has(subscription)) this.#tellOne(subscription.listener, event)
    }
  }

  #tellOne(listener: ChangeListener, event: CatalogEvent): void {
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
      // Who complains about a complaint must not stop the listeners that are left.
    }
  }
}
