import type { Execution } from '../contract/execution.ts'
import { killAtOnce } from '../contract/executor.ts'
import type { LeasedRun, StopReason } from './leases.ts'

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
