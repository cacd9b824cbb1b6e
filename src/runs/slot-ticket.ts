import { TooldexError } from '../base/errors.ts'
import type { Semaphore } from '../base/semaphore.ts'

/** A slot, or a position in the queue for one; `leave` releases exactly what was taken, in every case. */
export class SlotTicket {
  /** Whether no slot was free. */
  readonly waits: boolean
  /** Resolves with the slot; rejects where the ticket left the queue before. */
  readonly turn: Promise<void>
  readonly #slots: Semaphore
  readonly #entering: Promise<void>
  readonly #leaving = new AbortController()
  #holds: boolean
  #left = false

  constructor(slots: Semaphore, { signal, caller }: { signal?: AbortSignal | undefined; caller: string }) {
    this.#slots = slots
    this.#holds = slots.tryEnter()
    this.waits = !this.#holds
    const leaving = AbortSignal.any([this.#leaving.signal, ...(signal === undefined ? [] : [signal])])
    this.#entering = this.waits ? slots.enter({ signal: leaving, caller }) : Promise.resolve()
    this.turn = this.waits ? this.#entering.then(() => this.#take()) : this.#entering
    this.turn.catch(() => {})
  }

  /** Rejects where too many calls wait already. */
  async checkRoom(): Promise<void> {
    await Promise.race([this.#entering, Promise.resolve()])
  }

  #take(): void {
    this.#holds = !this.#left
    if (this.#holds) return
    this.#slots.leave()
    throw new TooldexError('EXECUTION_CANCELLED', 'The call was cancelled while it waited for a slot.')
  }

  leave(): void {
    if (this.#left) return
    this.#left = true
    if (this.#holds) this.#slots.leave()
    else this.#leaving.abort()
  }
}
