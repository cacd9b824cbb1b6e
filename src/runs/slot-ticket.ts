import { TooldexError } from '../base/errors.ts'
import type { Semaphore } from '../base/semaphore.ts'

/** A slot, or a place in the line for one; whatever happens, `leave` gives back exactly what was taken. */
export class SlotTicket {
  /** Whether it was not given a slot at once. */
  readonly waits: boolean
  /** Settles when there is a slot; refused where it left the line before. */
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

  /** Refused where too many wait already. */
  async checkRoom(): Promise<void> {
    await Promise.race([this.#entering, Promise.resolve()])
  }

  #take(): void {
    this.#holds = !this.#left
    if (this.#holds) return
    this.#slots.leave()
    throw new TooldexError('EXECUTION_CANCELLED', 'The call left the line when it was its turn.')
  }

  leave(): void {
    if (this.#left) return
    this.#left = true
    if (this.#holds) this.#slots.leave()
    else this.#leaving.abort()
  }
}
