/** A signal that is aborted by another one or when time is up; cheaper than joining signals, because it is given back. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal | undefined
  readonly #timer: NodeJS.Timeout | undefined
  /** Whether it was the time. */
  isOver = false

  constructor(outer: AbortSignal | undefined, ms?: number) {
    this.#outer = outer
    if (outer?.aborted) this.#follow()
    else outer?.addEventListener('abort', this.#follow)
    if (ms !== undefined) this.#timer = setTimeout(this.#end, ms)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Lets go of the other signal and of the timer; to be called when the work has ended. */
  release(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#follow)
  }

  readonly #follow = (): void => {
    this.#controller.abort(this.#outer?.reason)
  }

  readonly #end = (): void => {
    this.isOver = true
    this.#controller.abort(new DOMException('The time is up.', 'TimeoutError'))
  }
}
