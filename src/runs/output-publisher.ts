import { type Attempt, attemptNumbers, type ExecutionEvent, type ExecutionStore } from '../contract/execution.ts'

const everyMs = 300

/** Passes on what a run prints while it prints it, a few times a second; a run that is quicker than that tells nothing. */
export class OutputPublisher {
  readonly #store: ExecutionStore
  readonly #attempt: Attempt
  readonly #waiting: { stream: ExecutionEvent['stream']; text: string }[] = []
  readonly #timer: NodeJS.Timeout
  #seq: number
  #sending: Promise<void> = Promise.resolve()
  told = false

  constructor(store: ExecutionStore, attempt: Attempt) {
    this.#store = store
    this.#attempt = attempt
    this.#seq = attempt.attempt * attemptNumbers
    this.#timer = setInterval(() => this.#flush(), everyMs)
    this.#timer.unref()
  }

  take(stream: ExecutionEvent['stream'], text: string): void {
    const last = this.#waiting.at(-1)
    if (last?.stream === stream) last.text += text
    else this.#waiting.push({ stream, text })
  }

  #flush(): void {
    if (this.#waiting.length === 0) return
    const events = this.#waiting.splice(0).map((event) => ({ ...event, seq: ++this.#seq }))
    this.told = true
    // What cannot be told now is not lost: the run itself keeps it at its end.
    this.#sending = this.#sending.then(() => this.#store.append(this.#attempt, events)).catch(() => {})
  }

  /** Whoever heard the beginning hears the rest before the run has ended. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    if (this.told) this.#flush()
    await this.#sending
  }
}
