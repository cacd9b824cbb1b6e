/** The result of a self-test: a working method, or the reason why there is none. */
export type Probed<Made> = { readonly made: Made } | { readonly reason: string }

const retryAfterMs = 5000

/** A test of a feature of the machine: run once if it succeeds, repeated after a while if it fails. */
export class SelfTest<Made> {
  readonly #probe: () => Promise<Probed<Made>>
  #running: Promise<Probed<Made>> | undefined
  #last: Probed<Made> | undefined

  constructor(probe: () => Promise<Probed<Made>>) {
    this.#probe = probe
  }

  run(): Promise<Probed<Made>> {
    this.#running ??= this.#probe().then((probed) => {
      this.#last = probed
      // The missing part may be installed meanwhile.
      if ('reason' in probed)
        setTimeout(() => {
          this.#running = undefined
        }, retryAfterMs).unref()
      return probed
    })
    return this.#running
  }

  /** The last result, without running the test. */
  get known(): Probed<Made> | undefined {
    return this.#last
  }
}
