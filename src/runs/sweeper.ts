import { toTooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import type { ExecutionStore } from '../contract/execution.ts'
import type { RunObserver } from '../contract/run-observer.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { RunSettings } from './settings.ts'

interface SweeperParts {
  readonly store: ExecutionStore
  readonly settings: RunSettings
  readonly logger: Logger
  readonly observer?: RunObserver | undefined
}

/** Ends what nobody runs any more, and deletes what is too old; every process does, and none of it is done twice. */
export class Sweeper {
  readonly #store: ExecutionStore
  readonly #settings: RunSettings
  readonly #logger: Logger
  readonly #observer: RunObserver | undefined
  readonly #heartbeat: Heartbeat
  readonly #timers: NodeJS.Timeout[] = []
  #closed = false

  constructor({ store, settings, logger, observer }: SweeperParts, heartbeat: Heartbeat) {
    this.#heartbeat = heartbeat
    this.#store = store
    this.#settings = settings
    this.#logger = logger
    this.#observer = observer
  }

  start(): void {
    this.#every(this.#settings.sweepMs, () => this.#sweep())
    this.#every(this.#settings.pruneMs, () => this.#prune())
  }

  /** One at a time, and not all processes in the same moment. */
  #every(ms: number, work: () => Promise<void>): void {
    const again = (): void => {
      if (this.#closed) return
      const timer = setTimeout(
        () => {
          this.#timers.splice(this.#timers.indexOf(timer), 1)
          void work()
            .catch((thrown) => this.#logger.warn('caretaking failed', { reason: toTooldexError(thrown).message }))
            .finally(again)
        },
        ms * (0.8 + 0.4 * Math.random()),
      )
      timer.unref()
      this.#timers.push(timer)
    }
    again()
  }

  async #sweep(): Promise<void> {
    // A process that was suspended for a while, even just now, must not take its own runs for those of a dead one.
    await this.#heartbeat.renew()
    const held = this.#heartbeat.runs.map(({ id }) => id)
    const did = await this.#store.sweep({ worker: this.#heartbeat.worker, held })
    const { lost, retried, expired } = did
    this.#observer?.swept(did)
    const swept = lost.length + retried.length + expired.length
    if (swept > 0) this.#logger.warn('swept', { lost: lost.length, retried: retried.length, expired: expired.length })
  }

  async #prune(): Promise<void> {
    let more = 1
    while (more > 0 && !this.#closed) {
      more = await this.#store.prune(this.#settings.retention)
      this.#observer?.pruned(more)
    }
  }

  close(): void {
    this.#closed = true
    for (const timer of this.#timers) clearTimeout(timer)
  }
}
