import type { Attempt, ExecutionStore } from '../contract/execution.ts'
import type { RunSettings } from './settings.ts'

/** Why a run is stopped before it ends by itself. */
export type StopReason = 'cancelled' | 'lost' | 'closing'

/** A run of this process; the attempt 0 is one that waits for its turn. */
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
  #beating: Promise<boolean> | undefined
  #tickedAt = performance.now()
  #closing = false

  constructor(store: ExecutionStore, worker: string, settings: RunSettings) {
    this.#store = store
    this.#worker = worker
    this.#settings = settings
  }

  start(): void {
    this.#tickedAt = performance.now()
    this.#timer = setInterval(() => this.#tick(), this.#settings.beatMs)
    this.#timer.unref()
  }

  /** A run that this process lost and took again is held as its new attempt only. */
  hold(run: HeldRun): void {
    this.#held.get(run.id)?.stop('lost')
    this.#held.set(run.id, run)
    if (this.#closing && run.attempt === 0) run.stop('closing')
  }

  release(run: HeldRun): void {
    if (this.#held.get(run.id) === run) this.#held.delete(run.id)
  }

  stop(id: string, why: StopReason): void {
    this.#held.get(id)?.stop(why)
  }

  /** Those that wait for their turn are told to leave, and whoever comes to wait now. */
  stopWaiting(): void {
    this.#closing = true
    for (const run of this.#held.values()) if (run.attempt === 0) run.stop('closing')
  }

  stopAll(why: StopReason): void {
    for (const run of this.#held.values()) run.stop(why)
  }

  /** The runs that this process makes now. */
  get ids(): readonly string[] {
    return [...this.#held.keys()]
  }

  /** One that was held up between being taken and being held asks whether it still has the run. */
  async confirm(run: HeldRun): Promise<void> {
    if (!this.#isOver(run)) return
    await this.beat()
    if (this.#isOver(run)) run.stop('lost')
  }

  /** Whoever is not heard of for that long is believed dead by the others; then it must be. */
  #isOver({ heardAt }: HeldRun): boolean {
    return performance.now() - heardAt > this.#settings.leaseMs
  }

  #tick(): void {
    const now = performance.now()
    // After a stop of the whole process, or of the machine, the database is asked before anything is given up.
    const heldUp = now - this.#tickedAt > 3 * this.#settings.beatMs
    this.#tickedAt = now
    if (!heldUp) for (const run of this.#held.values()) if (this.#isOver(run)) run.stop('lost')
    void this.beat()
  }

  /** Says now that all runs live; false where the database did not hear it. */
  beat(): Promise<boolean> {
    if (this.#held.size === 0) return Promise.resolve(true)
    this.#beating ??= this.#beatOnce().finally(() => {
      this.#beating = undefined
    })
    return this.#beating
  }

  async #beatOnce(): Promise<boolean> {
    const runs = [...this.#held.values()]
    const now = performance.now()
    try {
      const { lost, cancel } = await this.#store.beat(this.#worker, runs, this.#settings.leaseMs)
      const gone = new Set(lost)
      // One that was let go meanwhile, because its turn came, is not told any more.
      for (const run of runs.filter((each) => this.#held.get(each.id) === each))
        if (gone.has(run.id)) run.stop('lost')
        else run.heardAt = now
      for (const id of cancel) this.stop(id, 'cancelled')
      return true
    } catch {
      // The database does not answer; the clock decides.
      return false
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
