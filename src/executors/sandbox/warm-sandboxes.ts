import { readSetting } from '../../rules/settings.ts'
import type { Sandbox, SandboxRequest, SandboxRun } from './sandbox.ts'

/** The size of the pool, and the lifetime of an unused program. */
export interface WarmOptions {
  /** Each costs the memory of a started interpreter. */
  readonly max: number
  readonly idleMs: number
}

export const defaultWarm: WarmOptions = { max: readSetting('TOOLDEX_PYTHON_WARM', {}), idleMs: 60_000 }

interface Idle {
  readonly key: string
  readonly run: SandboxRun
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

  /** A run for this request, warm if there is one; another is prepared for the next request. */
  async take(request: SandboxRequest): Promise<SandboxRun> {
    const key = JSON.stringify(request)
    const found = this.#find(key)
    this.#refill(key, request)
    return found ?? this.#sandbox.prepare(request)
  }

  #find(key: string): SandboxRun | undefined {
    for (;;) {
      const index = this.#idle.findIndex((each) => each.key === key)
      const [found] = index < 0 ? [] : this.#idle.splice(index, 1)
      if (found === undefined || found.run.isAlive()) return found?.run
      void found.run.discard()
    }
  }

  #refill(key: string, request: SandboxRequest): void {
    const { max } = this.#options
    if (this.#closed || this.#starting >= max) return
    // The oldest is evicted: the current request is more likely to come again.
    if (this.#idle.length + this.#starting >= max) {
      if (this.#idle.every((each) => each.key === key)) return
      void this.#idle
        .splice(
          this.#idle.findIndex((each) => each.key !== key),
          1,
        )[0]
        ?.run.discard()
    }
    this.#starting++
    this.#sandbox
      .prepareWarm(request)
      .then((run) => {
        if (this.#closed) return run.discard()
        this.#idle.push({ key, run, since: performance.now() })
        return undefined
      })
      // The next run starts its own program and reports the error.
      .catch(() => {})
      .finally(() => {
        this.#starting--
      })
  }

  #dropOld(): void {
    const oldest = performance.now() - this.#options.idleMs
    while (this.#idle[0] !== undefined && this.#idle[0].since < oldest) void this.#idle.shift()?.run.discard()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await Promise.all(this.#idle.splice(0).map(({ run }) => run.discard()))
  }
}
