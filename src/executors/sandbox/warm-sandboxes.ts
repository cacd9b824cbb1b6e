import type { Sandbox, SandboxRequest, SandboxRun } from './sandbox.ts'

/** How many programs wait for work, and how long one that nobody needs is kept. */
export interface WarmOptions {
  /** Each costs the memory of a started interpreter. */
  readonly most: number
  readonly idleMs: number
}

export const defaultWarm: WarmOptions = { most: 4, idleMs: 60_000 }

interface Idle {
  readonly key: string
  readonly place: SandboxRun
  readonly since: number
}

/** Programs started before they are needed, each in a sandbox of its own that is used for one run and never again. */
export class WarmSandboxes {
  readonly #sandbox: Sandbox
  readonly #options: WarmOptions
  readonly #idle: Idle[] = []
  readonly #timer: NodeJS.Timeout
  #starting = 0
  #closed = false

  constructor(sandbox: Sandbox, options: WarmOptions = defaultWarm) {
    this.#sandbox = sandbox
    this.#options = options
    this.#timer = setInterval(() => this.#dropOld(), options.idleMs / 2)
    this.#timer.unref()
  }

  /** A place for this very request, warm where there is one; another is made ready for the next. */
  async take(request: SandboxRequest): Promise<SandboxRun> {
    const key = JSON.stringify(request)
    const found = this.#find(key)
    this.#refill(key, request)
    return found ?? this.#sandbox.place(request)
  }

  #find(key: string): SandboxRun | undefined {
    for (;;) {
      const index = this.#idle.findIndex((each) => each.key === key)
      const [found] = index < 0 ? [] : this.#idle.splice(index, 1)
      if (found === undefined || found.place.isAlive()) return found?.place
      void found.place.discard()
    }
  }

  #refill(key: string, request: SandboxRequest): void {
    const { most } = this.#options
    if (this.#closed || this.#starting >= most) return
    // The one that waited longest makes room: what is called now is likelier to be called again.
    if (this.#idle.length + this.#starting >= most) {
      if (this.#idle.every((each) => each.key === key)) return
      void this.#idle
        .splice(
          this.#idle.findIndex((each) => each.key !== key),
          1,
        )[0]
        ?.place.discard()
    }
    this.#starting++
    this.#sandbox
      .warmPlace(request)
      .then((place) => {
        if (this.#closed) return place.discard()
        this.#idle.push({ key, place, since: performance.now() })
        return undefined
      })
      // The next run starts its own, and says what is wrong.
      .catch(() => {})
      .finally(() => {
        this.#starting--
      })
  }

  #dropOld(): void {
    const oldest = performance.now() - this.#options.idleMs
    while (this.#idle[0] !== undefined && this.#idle[0].since < oldest) void this.#idle.shift()?.place.discard()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await Promise.all(this.#idle.splice(0).map(({ place }) => place.discard()))
  }
}
