import { AsyncLocalStorage } from 'node:async_hooks'
import { TooldexError } from './errors.ts'

/** At most `slots` calls run and `waiting` wait; further ones fail with TOO_BUSY. */
export interface SemaphoreOptions {
  readonly slots: number
  readonly waiting: number
  /** Maximum slots of one caller, default all; if set, `enter` and `leave` need the caller. */
  readonly slotsEach?: number | undefined
  /** Maximum waiting calls of one caller; default `waiting`. */
  readonly waitingEach?: number | undefined
}

interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  /** Callers take turns; calls without a caller count as one caller. */
  readonly caller?: string | undefined
}

/** Bounds the number of concurrent calls: callers take turns, and the calls of one caller run in order. */
export class Semaphore {
  readonly #options: SemaphoreOptions
  /** The caller whose turn is next comes first. */
  readonly #lines = new Map<string, Set<() => void>>()
  readonly #freeListeners = new Set<() => void>()
  /** The number of slots in use by caller. */
  readonly #used = new Map<string, number>()
  #busy = 0
  #waiting = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
  }

  /** The number of slots. */
  get size(): number {
    return this.#options.slots
  }

  /** The number of free slots. */
  get free(): number {
    return Math.max(0, this.#options.slots - this.#busy)
  }

  get busy(): number {
    return this.#busy
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Registers a callback for each time a slot is freed and no call waits for it; returns the unsubscribe function. */
  onFree(listener: () => void): () => void {
    this.#freeListeners.add(listener)
    return () => void this.#freeListeners.delete(listener)
  }

  /** Runs `work` when a slot is free; an aborted signal cancels the wait. */
  async run<T>(work: () => Promise<T>, options: WaitOptions = {}): Promise<T> {
    await this.enter(options)
    try {
      return await work()
    } finally {
      this.leave(options.caller)
    }
  }

  /** Takes a slot if one is free. */
  tryEnter(caller = ''): boolean {
    if (this.#busy >= this.#options.slots || !this.#mayTakeSlot(caller)) return false
    this.#busy++
    this.#count(caller, 1)
    return true
  }

  /** Takes a slot, waiting if none is free. */
  async enter({ signal, caller = '' }: WaitOptions = {}): Promise<void> {
    if (signal?.aborted) throw cancelled()
    if (this.tryEnter(caller)) return
    const { waiting, waitingEach = waiting } = this.#options
    const own = this.#lines.get(caller)?.size ?? 0
    if (this.#waiting >= waiting || own >= waitingEach) {
      throw new TooldexError('TOO_BUSY', `${this.#busy} calls are running and ${this.#waiting} are waiting.`)
    }
    await this.#queue(signal, caller)
  }

  #queue(signal: AbortSignal | undefined, caller: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      const stop = (): void => {
        this.#drop(caller, start)
        reject(cancelled())
      }
      const line = this.#lines.get(caller) ?? new Set()
      line.add(start)
      this.#lines.set(caller, line)
      this.#waiting++
      signal?.addEventListener('abort', stop, { once: true })
    })
  }

  #drop(caller: string, start: () => void): void {
    const line = this.#lines.get(caller)
    if (line?.delete(start)) this.#waiting--
    if (line?.size === 0) this.#lines.delete(caller)
  }

  /** Releases a slot to the next caller in turn. */
  leave(caller = ''): void {
    this.#count(caller, -1)
    if (!this.#handOver()) for (const listener of this.#freeListeners) listener()
  }

  /** Releases an unused slot without notifying the `onFree` listeners. */
  leaveQuietly(caller = ''): void {
    this.#count(caller, -1)
    this.#handOver()
  }

  #handOver(): boolean {
    const next = [...this.#lines].find(([caller]) => this.#mayTakeSlot(caller))
    if (next === undefined) {
      this.#busy--
      return false
    }
    const [caller, line] = next
    const [start] = line as Set<() => void>
    this.#drop(caller, start as () => void)
    this.#count(caller, 1)
    // A caller moves to the end after its turn.
    if (this.#lines.delete(caller)) this.#lines.set(caller, line)
    ;(start as () => void)()
    return true
  }

  #mayTakeSlot(caller: string): boolean {
    return (this.#used.get(caller) ?? 0) < (this.#options.slotsEach ?? Number.POSITIVE_INFINITY)
  }

  #count(caller: string, change: 1 | -1): void {
    if (this.#options.slotsEach === undefined) return
    const used = (this.#used.get(caller) ?? 0) + change
    if (used > 0) this.#used.set(caller, used)
    else this.#used.delete(caller)
  }
}

const cancelled = () => new TooldexError('EXECUTION_CANCELLED', 'The call was cancelled while it waited for a slot.')

const callers = new AsyncLocalStorage<string>()

/** Runs work on behalf of a caller: callers share the worker threads fairly. */
export const workFor = <Result>(caller: string, work: () => Result): Result => callers.run(caller, work)

/** The caller of the current work; undefined for work of the process itself. */
export const currentCaller = (): string | undefined => callers.getStore()

/** Bounds of something that callers hold open. */
export interface SlotLimits {
  readonly total: number
  /** Keeps slots free for other callers. */
  readonly perCaller: number
}

/** Slots for open streams, bounded in all and for each caller. */
export class CallerSlots {
  readonly #limits: SlotLimits
  readonly #taken = new Map<string, number>()

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** Takes a slot; returns an idempotent function that releases it, or the number of slots taken if none is free. */
  take(caller: string): (() => void) | number {
    const own = this.#taken.get(caller) ?? 0
    const all = [...this.#taken.values()].reduce((sum, count) => sum + count, 0)
    if (own >= this.#limits.perCaller) return own
    if (all >= this.#limits.total) return all
    this.#taken.set(caller, own + 1)
    let isTaken = true
    return () => {
      if (isTaken) this.#release(caller)
      isTaken = false
    }
  }

  #release(caller: string): void {
    const left = (this.#taken.get(caller) ?? 1) - 1
    if (left > 0) this.#taken.set(caller, left)
    else this.#taken.delete(caller)
  }
}
