import { setTimeout as sleep } from 'node:timers/promises'
import { toTooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import type { Attempt, ExecutionStore } from '../contract/execution.ts'
import type { WorkerInfo } from '../contract/worker.ts'
import type { RunSettings } from './settings.ts'

/** Why a run is stopped before it ends by itself. */
export type StopReason = 'cancelled' | 'lost' | 'closing'

/** A run of this process; the attempt 0 is one that waits for its turn. */
export interface LeasedRun extends Attempt {
  /** When it was requested from the database, by the monotonic clock of this process. */
  readonly begunAt: number
  readonly toolName: string
  stop(why: StopReason): void
}

interface HeartbeatParts {
  readonly store: ExecutionStore
  readonly settings: RunSettings
  readonly logger: Logger
}

/**
 * Renews the lease of this process, and stops its runs before the lease can end without a renewal:
 *
 *   renewal sent            last beats unanswered          stop, kill            lease ends: others may take the runs
 *   |-----------------------------------------------------|---- 2 beats ---------|
 *
 * Times are counted from when an answered renewal was sent, so that the database never believes a shorter lease.
 */
export class Heartbeat {
  readonly #parts: HeartbeatParts
  readonly #held = new Map<string, LeasedRun>()
  #info: WorkerInfo
  #ticker: NodeJS.Timeout | undefined
  #expiry: NodeJS.Timeout | undefined
  #renewing: Promise<void> | undefined
  #checking: Promise<void> | undefined
  #renewedAt = Number.NEGATIVE_INFINITY
  /** Runs that began before this moment may have been taken by others. */
  #brokenUntil = Number.NEGATIVE_INFINITY
  #closing = false

  constructor(parts: HeartbeatParts, info: WorkerInfo) {
    this.#parts = parts
    this.#info = info
  }

  /** Puts this process on the list of workers; nothing may run before. */
  async start(): Promise<void> {
    await this.renew()
    this.#ticker = setInterval(() => this.#tick(), this.#parts.settings.beatMs)
    this.#ticker.unref()
  }

  /** A run that this process lost and took again is held as its new attempt only. */
  hold(run: LeasedRun): void {
    this.#held.get(run.id)?.stop('lost')
    this.#held.set(run.id, run)
    if (this.#closing && run.attempt === 0) run.stop('closing')
  }

  release(run: LeasedRun): void {
    if (this.#held.get(run.id) === run) this.#held.delete(run.id)
  }

  stop(id: string, why: StopReason): void {
    this.#held.get(id)?.stop(why)
  }

  /** Stops the runs that wait for their turn, and those that come to wait; the fleet sees that this process drains. */
  stopWaiting(): void {
    this.#closing = true
    this.#info = { ...this.#info, draining: true }
    for (const run of this.#held.values()) if (run.attempt === 0) run.stop('closing')
    void this.renew().catch(() => {})
  }

  stopAll(why: StopReason): void {
    for (const run of this.#held.values()) run.stop(why)
  }

  /** The name of this process. */
  get worker(): string {
    return this.#info.worker
  }

  /** The runs that this process makes now. */
  get runs(): readonly LeasedRun[] {
    return [...this.#held.values()]
  }

  /** A run whose lease may have ended between its claim and now is checked before it starts. */
  async confirm(run: LeasedRun): Promise<void> {
    if (!this.#isOver() && run.begunAt >= this.#brokenUntil) return
    if (!(await this.#reconfirm())) run.stop('lost')
  }

  /** Renews the lease now; throws where the database does not take it. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renewOnce().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renewOnce(): Promise<void> {
    const { store, settings } = this.#parts
    const sentAt = performance.now()
    await store.renewLease(this.#info, settings.leaseMs)
    if (sentAt > this.#renewedAt + this.#holdMs) this.#brokenUntil = performance.now()
    this.#renewedAt = sentAt
    if (store.shared) this.#expireAt(sentAt + this.#holdMs)
  }

  /** How long runs go on after the last renewal: the rest of the lease is for killing them. */
  get #holdMs(): number {
    const { leaseMs, beatMs } = this.#parts.settings
    return leaseMs - 2 * beatMs
  }

  /** An embedded database has no other process that could take a run. */
  #isOver(): boolean {
    return this.#parts.store.shared && performance.now() > this.#renewedAt + this.#holdMs
  }

  #expireAt(due: number): void {
    clearTimeout(this.#expiry)
    const expire = (): void => {
      // A process that was itself suspended asks the database before it gives up what nobody may have taken.
      const isLate = performance.now() - due > this.#parts.settings.beatMs
      if (isLate) void this.#reconfirm().then((isKept) => isKept || this.#giveUp())
      else this.#giveUp()
    }
    this.#expiry = setTimeout(expire, due - performance.now())
    this.#expiry.unref()
  }

  #giveUp(): void {
    if (this.#held.size > 0)
      this.#parts.logger.warn('the lease could not be renewed; its runs are stopped', { runs: this.#held.size })
    this.stopAll('lost')
  }

  /** Renews the lease and then checks all runs; false where either is not answered within a beat. */
  async #reconfirm(): Promise<boolean> {
    const confirmed = this.renew()
      .then(() => this.#checkOnce())
      .then(
        () => true,
        () => false,
      )
    return Promise.race([confirmed, sleep(this.#parts.settings.beatMs, false, { ref: false })])
  }

  #tick(): void {
    void this.renew().catch((thrown) => {
      const { message } = toTooldexError(thrown)
      this.#parts.logger.warn('the lease could not be renewed', { reason: message })
    })
    // Apart from the renewal: a lock on the table of runs must not hold that up.
    this.#checking ??= this.#checkOnce()
      .catch(() => {})
      .finally(() => {
        this.#checking = undefined
      })
  }

  async #checkOnce(): Promise<void> {
    const runs = [...this.#held.values()]
    if (runs.length === 0) return
    const { lost, cancel } = await this.#parts.store.checkAttempts(this.#info.worker, runs)
    const gone = new Set(lost)
    // One that was released meanwhile, because its turn came, is not stopped any more.
    for (const run of runs) if (gone.has(run.id) && this.#held.get(run.id) === run) run.stop('lost')
    for (const id of cancel) this.stop(id, 'cancelled')
  }

  /** Takes this process off the list, where the database answers. */
  async close(): Promise<void> {
    clearInterval(this.#ticker)
    clearTimeout(this.#expiry)
    await this.#renewing?.catch(() => {})
    await this.#parts.store.removeWorker(this.#info.worker).catch(() => {})
  }
}
