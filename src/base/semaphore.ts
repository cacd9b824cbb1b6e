import { TooldexError } from './errors.ts'

/** At most `slots` at work and `waiting` in line; whoever comes after that is told to try later. */
export interface SemaphoreOptions {
  readonly slots: number
  readonly waiting: number
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
  #busy = 0
  #waiting = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
  }

  /** How many more could start now. */
  /** How many may be at work at once. */
  get size(): number {
    return this.#options.slots
  }

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
      this.leave()
    }
  }

  /** Takes a slot if one is free. */
  tryEnter(): boolean {
    if (this.#busy >= this.#options.slots) return false
    this.#busy++
    return true
  }

  /** Takes a slot, waiting for it where none is free. */
  async enter({ signal, caller = '' }: WaitOptions = {}): Promise<void> {
    if (signal?.aborted) throw cancelled()
    if (this.tryEnter()) return
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

  /** Gives a slot back: to whoever's turn it is. */
  leave(): void {
    if (!this.#handOver()) for (const listener of this.#freed) listener()
  }

  /** Gives a slot back that was not used; nobody need look for work because of it. */
  leaveQuietly(): void {
    this.#handOver()
  }

  #handOver(): boolean {
    const [next] = this.#lines
    if (next === undefined) {
      this.#busy--
      return false
    }
    const [caller, line] = next
    const [start] = line as Set<() => void>
    this.#drop(caller, start as () => void)
    // Whoever had a turn goes to the end.
    if (this.#lines.delete(caller)) this.#lines.set(caller, line)
    ;(start as () => void)()
    return true
  }
}

const cancelled = () => new TooldexError('EXECUTION_CANCELLED', 'The call was cancelled while it waited for its turn.')
