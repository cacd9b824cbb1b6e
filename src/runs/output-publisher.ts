import { type Attempt, attemptNumbers, type ExecutionEvent, type ExecutionStore } from '../contract/execution.ts'

const intervalMs = 300

/** Publishes the output of a run while it runs, a few times a second; a shorter run publishes nothing. */
export class OutputPublisher {
  readonly #store: Pick<ExecutionStore, 'append'>
  readonly #attempt: Attempt
  readonly #pending: { stream: ExecutionEvent['stream']; text: string }[] = []
  readonly #timer: NodeJS.Timeout
  #seq: number
  #sending: Promise<void> = Promise.resolve()
  published = false

  constructor(store: Pick<ExecutionStore, 'append'>, attempt: Attempt) {
    this.#store = store
    this.#attempt = attempt
    this.#seq = attempt.attempt * attemptNumbers
    this.#timer = setInterval(() => this.#flush(), intervalMs)
    this.#timer.unref()
  }

  take(stream: ExecutionEvent['stream'], text: string): void {
    const last = this.#pending.at(-1)
    if (last?.stream === stream) last.text += text
    else this.#pending.push({ stream, text })
  }

  #flush(): void {
    if (this.#pending.length === 0) return
    const events = this.#pending.splice(0).map((event) => ({ ...event, seq: ++this.#seq }))
    this.published = true
    // A failed write loses nothing, because the final write contains the whole output.
    this.#sending = this.#sending.then(() => this.#store.append(this.#attempt, events)).catch(() => {})
  }

  /** Publishes the rest before the end of the run, where the beginning was published. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    if (this.published) this.#flush()
    await this.#sending
  }
}
