/** What a self-test found: a way that holds, or why there is none. */
export type Probed<Made> = { readonly made: Made } | { readonly reason: string }

const retryAfterMs = 5000

/** A look at what the machine can do: made once where it succeeds, again after a while where it does not. */
export class SelfTest<Made> {
  readonly #look: () => Promise<Probed<Made>>
  #running: Promise<Probed<Made>> | undefined
  #known: Probed<Made> | undefined

  constructor(look: () => Promise<Probed<Made>>) {
    this.#look = look
  }

  run(): Promise<Probed<Made>> {
    this.#running ??= this.#look().then((probed) => {
      this.#known = probed
      // Somebody may install what was missing.
      if ('reason' in probed)
        setTimeout(() => {
          this.#running = undefined
        }, retryAfterMs).unref()
      return probed
    })
    return this.#running
  }

  /** What the last look found, without looking. */
  get known(): Probed<Made> | undefined {
    return this.#known
  }
}
