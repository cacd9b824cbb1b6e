import type { Attempt, ExecutionStore } from '../contract/execution.ts'
import type { RunSettings } from './settings.ts'

/** Why a run is stopped before it ends by itself. */
export type StopReason = 'cancelled' | 'lost' | 'closing'

/** A run of this process. */
export interface HeldRun extends Attempt {
  /** When the database last heard that it runs, by the steady clock of this process. */
  heardAt: number
  stop(why: StopReason): void
}

/** Says of all runs of this process that they live; stops those that it may not hold any more. */
export class Heartbeat {
  readonly #store: ExecutionStore
  readonly #worker: string
  readonly #settings: RunSettings
  readonly #held = new Map<string, HeldRun>()
  #timer: NodeJS.Timeout | undefined
  #beating = false

  constructor(store: ExecutionStore, worker: string, settings: RunSettings) {
    this.#store = store
    this.#worker = worker
    this.#settings = settings
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), this.#settings.beatMs)
    this.#timer.unref()
  }

  get size(): number {
    return this.#held.size
  }

  hold(run: HeldRun): void {
    this.#held.set(run.id, run)
  }

  release(id: string): void {
    this.#held.delete(id)
  }

  stop(id: string, why: StopReason): void {
    this.#held.get(id)?.stop(why)
  }

  stopAll(why: StopReason): void {
    for (const run of this.#held.values()) run.stop(why)
  }

  #tick(): void {
    // Whoever is not heard of for that long is believed dead by the others; then it must be.
    for (const run of this.#held.values())
      if (performance.now() - run.heardAt > this.#settings.leaseMs) run.stop('lost')
    if (!this.#beating && this.#held.size > 0) void this.#beat()
  }

  async #beat(): Promise<void> {
    this.#beating = true
    const runs = [...this.#held.values()]
    const now = performance.now()
    try {
      const { lost, cancel } = await this.#store.beat(this.#worker, runs, this.#settings.leaseMs)
      for (const run of runs) run.heardAt = now
      for (const id of lost) this.stop(id, 'lost')
      for (const id of cancel) this.stop(id, 'cancelled')
    } catch {
      // The database does not answer; the clock above decides.
    } finally {
      this.#beating = false
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
