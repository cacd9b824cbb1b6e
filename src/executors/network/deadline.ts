import { EventEmitter } from 'node:events'

/**
 * Aborted by another signal or when time is up; cheaper than joining signals, because it is given back. Those that take an
 * emitter of `abort` for a signal need no real one, which takes longer to make than all the rest.
 */
export class Deadline extends EventEmitter {
  readonly #outer: AbortSignal | undefined
  readonly #timer: NodeJS.Timeout | undefined
  #controller: AbortController | undefined
  aborted = false
  reason: unknown
  /** Whether it was the time. */
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

  /** Lets go of the other signal and of the timer; to be called when the work has ended. */
  release(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#follow)
  }

  readonly #follow = (): void => this.#abort(this.#outer?.reason)

  readonly #end = (): void => {
    this.isOver = true
    this.#abort(new DOMException('The time is up.', 'TimeoutError'))
  }

  #abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#controller?.abort(reason)
    this.emit('abort')
  }
}
