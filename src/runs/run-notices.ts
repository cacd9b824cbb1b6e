import type { ExecutionStore, RunNotice } from '../contract/execution.ts'

/** Receives notices about runs from other processes and from this one, and wakes the waiting callers. */
export class RunNotices {
  readonly #listeners = new Set<(notice: RunNotice) => void>()
  readonly #waiting = new Map<string, Set<() => void>>()
  #stop: (() => Promise<void>) | undefined

  async open(store: Pick<ExecutionStore, 'listen'>): Promise<void> {
    this.#stop = await store.listen((notice) => this.deliver(notice))
  }

  /** Delivers a notice; those of this process need not go through the database. */
  deliver(notice: RunNotice): void {
    for (const wake of this.#waiting.get(notice.id) ?? []) wake()
    for (const listener of this.#listeners) listener(notice)
  }

  on(listener: (notice: RunNotice) => void): void {
    this.#listeners.add(listener)
  }

  /** Waits for a notice about a run, at most this long, because notices can be lost. */
  next(id: string, withinMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set()
      const wake = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', wake)
        waiting.delete(wake)
        if (waiting.size === 0) this.#waiting.delete(id)
        resolve()
      }
      const timer = setTimeout(wake, withinMs)
      signal?.addEventListener('abort', wake, { once: true })
      waiting.add(wake)
      this.#waiting.set(id, waiting)
      if (signal?.aborted) wake()
    })
  }

  async close(): Promise<void> {
    await this.#stop?.().catch(() => {})
  }
}
