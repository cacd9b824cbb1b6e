import { toTooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import type { ExecutionStore } from '../contract/execution.ts'
import type { RunObserver } from '../contract/telemetry.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { RunSettings } from './settings.ts'

interface SweeperParts {
  readonly store: ExecutionStore
  readonly settings: RunSettings
  readonly logger: Logger
  readonly observer?: RunObserver | undefined
}

/** Ends or requeues the runs of lost workers and deletes old runs; every process sweeps, and no work is done twice. */
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

  /** Runs without overlap, and with jitter so that processes do not run at the same moment. */
  #every(ms: number, work: () => Promise<void>): void {
    const again = (): void => {
      if (this.#closed) return
      const timer = setTimeout(
        () => {
          this.#timers.splice(this.#timers.indexOf(timer), 1)
          void work()
            .catch((thrown) => this.#logger.warn('sweep failed', { reason: toTooldexError(thrown).message }))
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
    // A process that was suspended must not treat its own runs as those of a dead process.
    await this.#heartbeat.renew()
    const runs = this.#heartbeat.runs.map(({ id }) => id)
    const result = await this.#store.sweep({ worker: this.#heartbeat.worker, runs })
    const { lost, retried, expired } = result
    this.#observer?.swept(result)
    const swept = lost.length + retried.length + expired.length
    if (swept > 0)
      this.#logger.warn('swept runs without a live worker or past their deadline', {
        lost: lost.length,
        retried: retried.length,
        expired: expired.length,
      })
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
