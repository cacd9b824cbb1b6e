import { TooldexError } from './errors.ts'

/** At most `slots` at work and `waiting` in line; whoever comes after that is told to try later. */
export interface SemaphoreOptions {
  readonly slots: number
  readonly waiting: number
}

/** Bounds how many calls run at once, first come first served. */
export class Semaphore {
  readonly #options: SemaphoreOptions
  readonly #line = new Set<() => void>()
  #busy = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
  }

  /** Runs `work` when a slot is free; an aborted signal leaves the line at once. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#enter(signal)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw cancelled()
    if (this.#busy < this.#options.slots) {
      this.#busy++
      return
    }
    if (this.#line.size >= this.#options.waiting) {
      throw new TooldexError('TOO_BUSY', `${this.#busy} calls are running and ${this.#line.size} are waiting.`)
    }
    await this.#queue(signal)
  }

  #queue(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      const stop = (): void => {
        this.#line.delete(start)
        reject(cancelled())
      }
      this.#line.add(start)
      signal?.addEventListener('abort', stop, { once: true })
    })
  }

  #leave(): void {
    const [next] = this.#line
    if (next === undefined) {
      this.#busy--
      return
    }
    this.#line.delete(next)
    next()
  }
}

const cancelled = () => new TooldexError('EXECUTION_CANCELLED', 'The call was cancelled while it waited for its turn.')
