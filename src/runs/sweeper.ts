import { toTooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import type { ExecutionStore } from '../contract/execution.ts'
import type { RunObserver } from '../contract/telemetry.ts'
import type { Leases } from './leases.ts'
import type { RunSettings } from './settings.ts'

interface SweeperParts {
  readonly store: Pick<ExecutionStore, 'sweep' | 'prune'>
  readonly leases: Pick<Leases, 'renew' | 'runs' | 'worker'>
  readonly settings: RunSettings
  readonly logger: Logger
  readonly observer?: RunObserver | undefined
}

/** Ends or requeues the runs of lost workers and deletes old runs; every process sweeps, and no work is done twice. */
export class Sweeper {
  readonly #parts: SweeperParts
  readonly #timers: NodeJS.Timeout[] = []
  #closed = false

  constructor(parts: SweeperParts) {
    this.#parts = parts
  }

  start(): void {
    this.#every(this.#parts.settings.sweepMs, () => this.#sweep())
    this.#every(this.#parts.settings.pruneMs, () => this.#prune())
  }

  /** Runs without overlap, and with jitter so that processes do not run at the same moment. */
  #every(ms: number, work: () => Promise<void>): void {
    const again = (): void => {
      if (this.#closed) return
      const timer = setTimeout(
        () => {
          this.#timers.splice(this.#timers.indexOf(timer), 1)
          void work()
            .catch((thrown) => this.#parts.logger.warn('sweep failed', { reason: toTooldexError(thrown).message }))
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
    const { store, leases, logger, observer } = this.#parts
    // A process that was suspended must not treat its own runs as those of a dead process.
    await leases.renew()
    const runs = leases.runs.map(({ id }) => id)
    const result = await store.sweep({ worker: leases.worker, runs })
    const { lost, retried, expired } = result
    observer?.swept(result)
    const swept = lost.length + retried.length + expired.length
    if (swept > 0)
      logger.warn('swept runs without a live worker or past their deadline', {
        lost: lost.length,
        retried: retried.length,
        expired: expired.length,
      })
  }

  async #prune(): Promise<void> {
    let more = 1
    while (more > 0 && !this.#closed) {
      more = await this.#parts.store.prune(this.#parts.settings.retention)
      this.#parts.observer?.pruned(more)
    }
  }

  close(): void {
    this.#closed = true
    for (const timer of this.#timers) clearTimeout(timer)
  }
}
