/** How a server that fails is tried again. Times are milliseconds. */
export interface CircuitSettings {
  /** After this many failures in a row calls are refused for a while. */
  readonly failures: number
  /** The pause after a first failure, doubled with each more. */
  readonly pauseMs: number
  /** For how long calls are refused at first, doubled with each more failure. */
  readonly openMs: number
  readonly maxMs: number
}

export const defaultCircuit: CircuitSettings = { failures: 3, pauseMs: 250, openMs: 10_000, maxMs: 300_000 }

/** Remembers how a server fared: after some failures in a row nobody asks it for a while. */
export class Circuit {
  readonly #settings: CircuitSettings
  #failures = 0
  #retryAt = 0
  /** Why it failed last. */
  why = ''

  constructor(settings: CircuitSettings) {
    this.#settings = settings
  }

  failed(why: string): void {
    const { failures, pauseMs, openMs, maxMs } = this.#settings
    this.#failures++
    this.why = why
    const over = this.#failures - failures
    const pause = over < 0 ? pauseMs * 2 ** (this.#failures - 1) : openMs * 2 ** Math.min(over, 30)
    this.#retryAt = Date.now() + Math.min(pause, maxMs)
  }

  answered(): void {
    this.#failures = 0
    this.#retryAt = 0
  }

  /** When it is tried again, where calls are refused until then. */
  get refusedUntil(): Date | undefined {
    const open = this.#failures >= this.#settings.failures && this.pauseMs > 0
    return open ? new Date(this.#retryAt) : undefined
  }

  /** How long a call waits before the server is tried again. */
  get pauseMs(): number {
    return Math.max(0, this.#retryAt - Date.now())
  }
}
