import { setMaxListeners } from 'node:events'
import { mustExist, TooldexError } from '../base/errors.ts'
import type { Execution, ExecutionStore, RunNotice } from '../contract/execution.ts'
import type { Caller } from '../contract/stores.ts'
import { isFinal } from '../rules/is-final.ts'
import type { Leases } from './leases.ts'

interface RunWaitsParts {
  readonly store: Pick<ExecutionStore, 'get' | 'cancel'>
  readonly notices: Pick<RunNotices, 'next'>
  readonly leases: Pick<Leases, 'stop'>
}

/** The options of waiting for a run. */
interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether the run belongs to another call with the same key, and so continues when this one stops waiting. */
  readonly joined: boolean
  /** The worker label of the tool. */
  readonly label?: string | undefined
}

/** Waits for the ends of runs in any process, and cancels runs. */
export class RunWaits {
  readonly #parts: RunWaitsParts
  /** Ends the waiting for runs that continue after this process. */
  readonly #leaving = new AbortController()

  constructor(parts: RunWaitsParts) {
    this.#parts = parts
    setMaxListeners(0, this.#leaving.signal)
  }

  /** Waits for the end; the wait for the start is bounded by the deadline of the run plus a few seconds. */
  async untilEnd(caller: Caller, { id, timeoutMs }: Execution, options: WaitOptions): Promise<Execution> {
    const patienceMs = (timeoutMs ?? 0) + startGraceMs
    const now = await this.#wait(caller, id, options, patienceMs)
    if (isFinal(now.status) || now.reason === 'approval' || options.signal?.aborted) return now
    if (this.#leaving.signal.aborted) return { ...now, errorCode: 'STILL_QUEUED', errorMessage: leftMessage }
    const label = options.label ? ` with the label ${options.label}` : ''
    const errorMessage = `No worker${label} took the call in ${Math.round(patienceMs / 1000)} s; it still waits.`
    return { ...now, errorCode: 'STILL_QUEUED', errorMessage }
  }

  /** Waits until a run has ended in any process; a caller that stops waiting for its own call cancels it. */
  async #wait(caller: Caller, id: string, { signal, joined }: WaitOptions, patienceMs: number): Promise<Execution> {
    const { store, notices } = this.#parts
    const until = performance.now() + patienceMs
    const leaving = this.#leaving.signal
    const woken = signal === undefined ? leaving : AbortSignal.any([signal, leaving])
    for (;;) {
      const execution = mustExist(await store.get(caller.workspace, id), 'execution', id)
      if (isFinal(execution.status) || execution.reason === 'approval') return execution
      if (signal?.aborted) return joined ? execution : this.#cancelUnlessEnded(caller, execution)
      if (leaving.aborted || (execution.status === 'PENDING' && performance.now() >= until)) return execution
      await notices.next(id, waitStepMs, woken)
    }
  }

  /** Cancels a run: one that has not started ends now, a running one is killed within a second. */
  async cancel(caller: Caller, id: string): Promise<Execution> {
    const { store, notices, leases } = this.#parts
    const execution = await store.cancel(caller, id, { code: 'EXECUTION_CANCELLED', message: 'The run was cancelled.' })
    leases.stop(id, 'cancelled')
    if (isFinal(execution.status)) return execution
    for (let waited = 0; waited < cancelWaitMs; waited += cancelStepMs) {
      await notices.next(id, cancelStepMs)
      const now = await store.get(caller.workspace, id)
      if (now === undefined || isFinal(now.status)) return now ?? execution
    }
    return execution
  }

  /** Cancels a run that may end in the same moment. */
  async #cancelUnlessEnded(caller: Caller, execution: Execution): Promise<Execution> {
    try {
      return await this.cancel(caller, execution.id)
    } catch (thrown) {
      if (!(thrown instanceof TooldexError) || thrown.code !== 'ILLEGAL_STEP') throw thrown
      return (await this.#parts.store.get(caller.workspace, execution.id)) ?? execution
    }
  }

  /** Returns the current state of their run to all waiting callers. */
  leave(): void {
    this.#leaving.abort()
  }
}

const leftMessage = 'This server is stopping before the end of the run, which is queued or runs on another worker.'
const waitStepMs = 1000
const startGraceMs = 5000
const [cancelStepMs, cancelWaitMs] = [250, 2000]

/** Receives notices about runs from other processes and from this one, and wakes the waiting callers. */
export class RunNotices {
  readonly #listeners = new Set<(notice: RunNotice) => void>()
  readonly #waiting = new Map<string, Set<() => void>>()
  #stop: (() => Promise<void>) | undefined

  async open(store: Pick<ExecutionStore, 'listen'>): Promise<void> {
    this.#stop = await store.listen((notice) => this.deliver(notice))
  }

  /** Delivers a notice; those of this process need not go through the database. */
  deliver(notice: RunNotice): void {
    for (const wake of this.#waiting.get(notice.id) ?? []) wake()
    for (const listener of this.#listeners) listener(notice)
  }

  on(listener: (notice: RunNotice) => void): void {
    this.#listeners.add(listener)
  }

  /** Waits for a notice about a run, at most this long, because notices can be lost. */
  next(id: string, withinMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set()
      const wake = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', wake)
        waiting.delete(wake)
        if (waiting.size === 0) this.#waiting.delete(id)
        resolve()
      }
      const timer = setTimeout(wake, withinMs)
      signal?.addEventListener('abort', wake, { once: true })
      waiting.add(wake)
      this.#waiting.set(id, waiting)
      if (signal?.aborted) wake()
    })
  }

  async close(): Promise<void> {
    await this.#stop?.().catch(() => {})
  }
}
