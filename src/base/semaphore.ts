import { TooldexError } from './errors.ts'

/** At most `slots` at work and `waiting` in line; further calls are refused with TOO_BUSY. */
export interface SemaphoreOptions {
  readonly slots: number
  readonly waiting: number
  /** How many slots one caller may hold at once; all of them where absent. Those who set it enter and leave with a caller. */
  readonly slotsEach?: number | undefined
  /** How many of one caller may wait; as many as there is room for where absent. */
  readonly waitingEach?: number | undefined
}

/** Who waits, and how they leave the line. */
interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  /** Whose turn it is goes round between callers; what has no caller counts as one. */
  readonly caller?: string | undefined
}

/** Bounds how many calls run at once: callers take turns, and the calls of one come in their order. */
export class Semaphore {
  readonly #options: SemaphoreOptions
  /** The caller whose turn is next comes first. */
  readonly #lines = new Map<string, Set<() => void>>()
  readonly #freed = new Set<() => void>()
  /** How many slots each caller holds. */
  readonly #held = new Map<string, number>()
  #busy = 0
  #waiting = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
  }

  /** How many may be at work at once. */
  get size(): number {
    return this.#options.slots
  }

  /** How many more could start now. */
  get free(): number {
    return Math.max(0, this.#options.slots - this.#busy)
  }

  get busy(): number {
    return this.#busy
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Calls back whenever a slot is free and nobody waits for it. */
  onFree(listener: () => void): () => void {
    this.#freed.add(listener)
    return () => void this.#freed.delete(listener)
  }

  /** Runs `work` when a slot is free; an aborted signal leaves the line at once. */
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
    if (this.#busy >= this.#options.slots || !this.#mayHoldMore(caller)) return false
    this.#busy++
    this.#hold(caller, 1)
    return true
  }

  /** Takes a slot, waiting for it where none is free. */
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

  /** Gives a slot back: to the caller whose turn it is. */
  leave(caller = ''): void {
    this.#hold(caller, -1)
    if (!this.#handOver()) for (const listener of this.#freed) listener()
  }

  /** Gives a slot back that was not used; nobody need look for work because of it. */
  leaveQuietly(caller = ''): void {
    this.#hold(caller, -1)
    this.#handOver()
  }

  #handOver(): boolean {
    const next = [...this.#lines].find(([caller]) => this.#mayHoldMore(caller))
    if (next === undefined) {
      this.#busy--
      return false
    }
    const [caller, line] = next
    const [start] = line as Set<() => void>
    this.#drop(caller, start as () => void)
    this.#hold(caller, 1)
    // A caller that had a turn goes to the end.
    if (this.#lines.delete(caller)) this.#lines.set(caller, line)
    ;(start as () => void)()
    return true
  }

  #mayHoldMore(caller: string): boolean {
    return (this.#held.get(caller) ?? 0) < (this.#options.slotsEach ?? Number.POSITIVE_INFINITY)
  }

  #hold(caller: string, change: 1 | -1): void {
    if (this.#options.slotsEach === undefined) return
    const held = (this.#held.get(caller) ?? 0) + change
    if (held > 0) this.#held.set(caller, held)
    else this.#held.delete(caller)
  }
}

const cancelled = () => new TooldexError('EXECUTION_CANCELLED', 'The call was cancelled while it waited for its turn.')
