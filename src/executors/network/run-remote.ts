import { EventEmitter } from 'node:events'
import { type ErrorCode, TooldexError } from '../../base/errors.ts'
import { noResult, type RunControls } from '../../contract/executor.ts'
import type { CommandResult, Isolation, RunOutcome } from '../../contract/run.ts'

/** The end of a call of another server. */
export type Ending = Pick<RunOutcome, 'status' | 'errorCode' | 'errorMessage' | 'output'> & { truncated?: boolean }

/** A call of another server. */
interface RemoteCall {
  /** The subject of messages, such as `The request`. */
  readonly subject: string
  readonly isolation: Isolation
  readonly deadlineMs: number
  readonly signal?: RunControls['signal']
  perform(deadline: Deadline): Promise<Ending>
  /** The code and the message of a failure that is not ours. */
  readonly failureCode: ErrorCode
  describe(error: unknown): string
  /** The texts of the result of a call that ended after this time. */
  textsOf(ending: Ending, durationMs: number): Pick<CommandResult, 'stdout'> & Partial<Pick<CommandResult, 'stderr'>>
}

/** Performs a call of another server under its deadline; a failure is an outcome, not an error. */
export async function runRemoteCall(call: RemoteCall): Promise<RunOutcome> {
  const started = performance.now()
  const deadline = new Deadline(call.signal, call.deadlineMs)
  const ending = await call
    .perform(deadline)
    .catch((error: unknown) => endingOf(call, deadline, error))
    .finally(() => deadline.release())
  const durationMs = Math.round((performance.now() - started) * 10) / 10
  const { truncated = false, status, errorCode, errorMessage, output } = ending
  const result = { ...noResult, ...call.textsOf(ending, durationMs), durationMs, truncated }
  return { status, errorCode, errorMessage, output, result, isolation: call.isolation }
}

function endingOf({ subject, signal, deadlineMs, ...call }: RemoteCall, deadline: Deadline, error: unknown): Ending {
  if (signal?.aborted) return failed(`${subject} was cancelled`, 'EXECUTION_CANCELLED', 'CANCELLED')
  if (deadline.isOver)
    return failed(`${subject} timed out after ${(deadlineMs / 1000).toFixed(1)}s`, 'EXECUTION_TIMEOUT', 'TIMEOUT')
  const ours = causesOfError(error).find((each) => each instanceof TooldexError)
  if (ours instanceof TooldexError) return failed(`${ours.message} ${ours.hint}`, ours.code)
  return failed(call.describe(error), call.failureCode)
}

/** The end of a call that did not succeed. */
export const failed = (
  errorMessage: string,
  errorCode: ErrorCode,
  status: RunOutcome['status'] = 'FAILED',
  output: unknown = null,
): Ending => ({ status, errorCode, errorMessage, output })

/** An error and its causes. */
export function causesOfError(error: unknown): readonly unknown[] {
  const all: unknown[] = []
  for (let each = error; each instanceof Error && all.length < 5; each = each.cause) all.push(each)
  return all
}

/**
 * Aborts with another signal or after a timeout; cheaper than `AbortSignal.any`, because it can be released. APIs that accept an
 * emitter of `abort` need no real signal, which takes longer to create than all the rest.
 */
export class Deadline extends EventEmitter {
  readonly #outer: AbortSignal | undefined
  readonly #timer: NodeJS.Timeout | undefined
  #controller: AbortController | undefined
  aborted = false
  reason: unknown
  /** Whether the timeout expired. */
  isOver = false

  constructor(outer: AbortSignal | undefined, ms?: number) {
    super()
    this.#outer = outer
    if (outer?.aborted) this.#follow()
    else outer?.addEventListener('abort', this.#follow)
    if (ms !== undefined && !this.aborted) this.#timer = setTimeout(this.#end, ms)
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.aborted) this.#controller.abort(this.reason)
    return this.#controller.signal
  }

  /** Removes the listener and the timer; call it when the work has ended. */
  release(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#follow)
  }

  readonly #follow = (): void => this.#abort(this.#outer?.reason)

  readonly #end = (): void => {
    this.isOver = true
    this.#abort(new DOMException('The timeout expired.', 'TimeoutError'))
  }

  #abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#controller?.abort(reason)
    this.emit('abort')
  }
}
