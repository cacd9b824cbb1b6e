import { setTimeout as sleep } from 'node:timers/promises'
import { toTooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import type { Attempt, Execution, ExecutionStore } from '../contract/execution.ts'
import { killAtOnce } from '../contract/executor.ts'
import type { WorkerInfo } from '../contract/run.ts'
import type { RunSettings } from './settings.ts'

/** The reason for stopping a run before its own end. */
export type StopReason = 'cancelled' | 'lost' | 'closing'

/** A run of this process; attempt 0 is a run that waits for a slot. */
export interface LeasedRun extends Attempt {
  /** When it was requested from the database, by the monotonic clock of this process. */
  readonly begunAt: number
  readonly toolName: string
  stop(why: StopReason): void
}

interface LeasesParts {
  readonly store: Pick<ExecutionStore, 'shared' | 'renewLease' | 'checkAttempts' | 'removeWorker'>
  readonly settings: RunSettings
  readonly logger: Logger
}

/**
 * Renews the lease of this process, and stops its runs before the lease can end without a renewal:
 *
 *   renewal sent            last beats without response    stop, kill            lease ends: others may take the runs
 *   |-----------------------------------------------------|---- 2 beats ---------|
 *
 * Times are counted from the sending of a successful renewal, so that the lease in the database never ends earlier.
 */
export class Leases {
  readonly #parts: LeasesParts
  readonly #leased = new Map<string, LeasedRun>()
  #info: WorkerInfo
  #ticker: NodeJS.Timeout | undefined
  #expiry: NodeJS.Timeout | undefined
  #renewing: Promise<void> | undefined
  #checking: Promise<void> | undefined
  #renewedAt = Number.NEGATIVE_INFINITY
  /** Runs that began before this moment may have been taken by others. */
  #brokenUntil = Number.NEGATIVE_INFINITY
  #closing = false

  constructor(parts: LeasesParts, info: WorkerInfo) {
    this.#parts = parts
    this.#info = info
  }

  /** Adds this process to the list of workers; nothing may run before. */
  async start(): Promise<void> {
    await this.renew()
    this.#ticker = setInterval(() => this.#tick(), this.#parts.settings.beatMs)
    this.#ticker.unref()
  }

  /** Registers a run; an older attempt of the same run, which this process lost and took again, is stopped. */
  hold(run: LeasedRun): void {
    this.#leased.get(run.id)?.stop('lost')
    this.#leased.set(run.id, run)
    if (this.#closing && run.attempt === 0) run.stop('closing')
  }

  release(run: LeasedRun): void {
    if (this.#leased.get(run.id) === run) this.#leased.delete(run.id)
  }

  stop(id: string, why: StopReason): void {
    this.#leased.get(id)?.stop(why)
  }

  /** Stops the runs that wait for a slot, now and later; other processes see that this one is draining. */
  stopWaiting(): void {
    this.#closing = true
    this.#info = { ...this.#info, draining: true }
    for (const run of this.#leased.values()) if (run.attempt === 0) run.stop('closing')
    void this.renew().catch(() => {})
  }

  stopAll(why: StopReason): void {
    for (const run of this.#leased.values()) run.stop(why)
  }

  /** The worker name of this process. */
  get worker(): string {
    return this.#info.worker
  }

  /** The current runs of this process. */
  get runs(): readonly LeasedRun[] {
    return [...this.#leased.values()]
  }

  /** Checks a run whose lease may have ended since its claim, before it starts. */
  async confirm(run: LeasedRun): Promise<void> {
    if (!this.#isOver() && run.begunAt >= this.#brokenUntil) return
    if (!(await this.#reconfirm())) run.stop('lost')
  }

  /** Renews the lease now; throws where the database does not confirm it. */
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

  /** The time that runs continue after the last renewal; the rest of the lease is for killing them. */
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
      // A process that was itself suspended queries the database first, because its runs may not have been taken.
      const isLate = performance.now() - due > this.#parts.settings.beatMs
      if (isLate) void this.#reconfirm().then((isConfirmed) => isConfirmed || this.#giveUp())
      else this.#giveUp()
    }
    this.#expiry = setTimeout(expire, due - performance.now())
    this.#expiry.unref()
  }

  #giveUp(): void {
    if (this.#leased.size > 0)
      this.#parts.logger.warn('lease not renewed in time; stopping its runs', { runs: this.#leased.size })
    this.stopAll('lost')
  }

  /** Renews the lease and then checks all runs; false without both responses within a beat. */
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
      this.#parts.logger.warn('lease renewal failed', { reason: message })
    })
    // Separate from the renewal, which a lock on the table of runs must not delay.
    this.#checking ??= this.#checkOnce()
      .catch(() => {})
      .finally(() => {
        this.#checking = undefined
      })
  }

  async #checkOnce(): Promise<void> {
    const runs = [...this.#leased.values()]
    if (runs.length === 0) return
    const { lost, cancel } = await this.#parts.store.checkAttempts(this.#info.worker, runs)
    const gone = new Set(lost)
    // A run that was released meanwhile, because it got a slot, is not stopped.
    for (const run of runs) if (gone.has(run.id) && this.#leased.get(run.id) === run) run.stop('lost')
    for (const id of cancel) this.stop(id, 'cancelled')
  }

  /** Removes this process from the list of workers, where the database responds. */
  async close(): Promise<void> {
    clearInterval(this.#ticker)
    clearTimeout(this.#expiry)
    await this.#renewing?.catch(() => {})
    await this.#parts.store.removeWorker(this.#info.worker).catch(() => {})
  }
}

/** An attempt that can be stopped. */
export class LeasedAttempt implements LeasedRun {
  readonly id: string
  readonly attempt: number
  readonly begunAt: number
  readonly toolName: string
  why: StopReason | undefined
  readonly #stopping = new AbortController()

  constructor({ id, attempt, toolName }: Pick<Execution, 'id' | 'attempt' | 'toolName'>, begunAt: number) {
    this.id = id
    this.attempt = attempt
    this.toolName = toolName
    this.begunAt = begunAt
  }

  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  isLost(): boolean {
    return this.why === 'lost'
  }

  stop(why: StopReason): void {
    this.why ??= why
    this.#stopping.abort(why === 'lost' ? killAtOnce : undefined)
  }
}
