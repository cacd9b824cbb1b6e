import { EventEmitter } from 'node:events'

/**
 * Aborts with another signal or after a timeout; cheaper than `AbortSignal.any`, because it can be released. APIs that accept an
 * emitter of `abort` need no real signal, which takes longer to create than all the rest.
 */
export class Deadline extends EventEmitter {
  readonly #outer: AbortSignal | undefined
  readonly #timer: NodeJS.Timeout | undefined
  #controller: AbortController | undefined
  aborted = false
  reason: unknown
  /** Whether the timeout expired. */
  isOver = false

  constructor(outer: AbortSignal | undefined, ms?: number) {
    super()
    this.#outer = outer
    if (outer?.aborted) this.#follow()
    else outer?.addEventListener('abort', this.#follow)
    if (ms !== undefined && !this.aborted) this.#timer = setTimeout(this.#end, ms)
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.aborted) this.#controller.abort(this.reason)
    return this.#controller.signal
  }

  /** Removes the listener and the timer; call it when the work has ended. */
  release(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#follow)
  }

  readonly #follow = (): void => this.#abort(this.#outer?.reason)

  readonly #end = (): void => {
    this.isOver = true
    this.#abort(new DOMException('The timeout expired.', 'TimeoutError'))
  }

  #abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#controller?.abort(reason)
    this.emit('abort')
  }
}
