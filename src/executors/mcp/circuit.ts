/** The retry behavior after failures of a server. Times are milliseconds. */
export interface CircuitSettings {
  /** The number of consecutive failures after which calls are rejected for a while. */
  readonly failures: number
  /** The pause after the first failure; each further failure doubles it. */
  readonly pauseMs: number
  /** The first duration for which calls are rejected; each further failure doubles it. */
  readonly openMs: number
  readonly maxMs: number
}

export const defaultCircuit: CircuitSettings = { failures: 3, pauseMs: 250, openMs: 10_000, maxMs: 300_000 }

/** The circuit breaker of a server: rejects calls for a while after several consecutive failures. */
export class Circuit {
  readonly #settings: CircuitSettings
  #failures = 0
  #retryAt = 0
  /** The reason of the last failure. */
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

  /** The time of the next attempt, if calls are rejected until then. */
  get refusedUntil(): Date | undefined {
    const open = this.#failures >= this.#settings.failures && this.pauseMs > 0
    return open ? new Date(this.#retryAt) : undefined
  }

  /** The time that a call waits before the next attempt. */
  get pauseMs(): number {
    return Math.max(0, this.#retryAt - Date.now())
  }
}
