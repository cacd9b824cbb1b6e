import { toTooldexError } from '../base/errors.ts'
import { type Logger, toLoggedError } from '../base/logger.ts'
import { workFor } from '../base/semaphore.ts'
import type { ClaimedExecution, Execution, ExecutionStore } from '../contract/execution.ts'
import type { RunnableTool } from '../contract/executor.ts'
import type { RunOutcome } from '../contract/run.ts'
import { type Span, type SpanOptions, type Tracing, untraced } from '../contract/telemetry.ts'
import { reachPoint } from '../rules/fault-points.ts'
import { failedOutcome, type PreparedCall, type Runner } from './create-runner.ts'
import type { RunRecorder } from './run-recorder.ts'
import type { RunNotices } from './run-waits.ts'
import type { RunSettings } from './settings.ts'

/** The dependencies of a queue. */
interface RunQueueParts {
  readonly runner: Pick<Runner, 'slots' | 'prepare'>
  readonly store: Pick<ExecutionStore, 'claim'>
  readonly recorder: Pick<RunRecorder, 'perform' | 'end'>
  readonly notices: Pick<RunNotices, 'on'>
  readonly settings: Pick<RunSettings, 'leaseMs' | 'pollMs'>
  readonly logger: Logger
  readonly tracing?: Tracing | undefined
  readonly worker: string
  /** The labels of the runs that this process takes. */
  readonly labels: readonly string[]
  /** Registers a run that the end of this process waits for. */
  readonly track: (work: Promise<void>) => Promise<void>
}

const maxClaims = 32

type Taken = ClaimedExecution & { readonly begunAt: number }

/** Takes runs from the queue while slots are free: at a notice, when a slot is freed, and by polling. */
export class RunQueue {
  readonly #parts: RunQueueParts
  #timer: NodeJS.Timeout | undefined
  #going: Promise<void> | undefined
  #again = false
  #stopped = true
  /** Whether the last claim found the queue empty and no notice came since. */
  #empty = false
  #unsubscribe: () => void = () => {}

  constructor(parts: RunQueueParts) {
    this.#parts = parts
  }

  start(): void {
    const { runner, settings, notices } = this.#parts
    this.#stopped = false
    notices.on(({ kind }) => {
      if (kind === 'queued') this.#wake()
    })
    this.#unsubscribe = runner.slots.onFree(() => {
      if (!this.#empty) this.#wake()
    })
    this.#timer = setInterval(() => this.#wake(), settings.pollMs)
    this.#timer.unref()
    this.#wake()
  }

  /** Stops taking runs; waits for a claim in progress. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    this.#unsubscribe()
    await this.#going
  }

  #wake(): void {
    this.#again = true
    this.#empty = false
    this.#going ??= this.#take()
  }

  async #take(): Promise<void> {
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false
        await this.#takeSome()
      }
    } catch (thrown) {
      // The database is unavailable; the next poll finds the waiting runs.
      this.#parts.logger.warn('reading the queue failed', { reason: toTooldexError(thrown).message })
    } finally {
      this.#going = undefined
    }
  }

  async #takeSome(): Promise<void> {
    const { runner, store, worker, labels, settings, track } = this.#parts
    const limit = Math.min(runner.slots.free, maxClaims)
    if (limit === 0) return
    let slots = 0
    while (slots < limit && runner.slots.tryEnter()) slots++
    let used = 0
    try {
      const begunAt = performance.now()
      const claimed = await store.claim(worker, { limit: slots, labels, leaseMs: settings.leaseMs })
      if (claimed.length > 0) reachPoint('F2 claimed')
      used = claimed.length
      for (const each of claimed) void track(this.#run({ ...each, begunAt }))
      // There may be more runs than slots; runs that were queued meanwhile have woken the loop again.
      if (claimed.length === slots) this.#again = true
      else this.#empty = !this.#again
    } finally {
      for (; used < slots; used++) runner.slots.leaveQuietly()
    }
  }

  async #run(claimed: Taken): Promise<void> {
    const { runner, logger, tracing = untraced } = this.#parts
    const { execution, traceparent } = claimed
    const about = {
      ...runSpanOptions('consumer', { ...execution, name: execution.toolName }),
      parent: traceparent ?? undefined,
    }
    try {
      // The active span belongs to the call that woke the loop.
      await tracing.inSpan(`run ${execution.toolName}`, { ...about, detached: true }, async (span) =>
        noteRunEnd(
          span,
          await workFor(`${claimed.workspace} ${execution.callerId}`, () => this.#perform(claimed, span.traceparent)),
        ),
      )
    } catch (thrown) {
      const { code, message } = toLoggedError(logger, thrown)
      logger.error('ending a run failed', { execution: execution.id, code, reason: message })
    } finally {
      runner.slots.leave()
    }
  }

  async #perform(claimed: Taken, traceparent: string | undefined): Promise<Execution> {
    const { recorder } = this.#parts
    const job = await this.#prepare(claimed, traceparent)
    return 'status' in job ? recorder.end(claimed, job) : recorder.perform(claimed, job, {})
  }

  /** Returns the prepared call, or the outcome of a call that can no longer run. */
  async #prepare(
    { execution, workspace, tool, refusal }: ClaimedExecution,
    traceparent: string | undefined,
  ): Promise<PreparedCall | RunOutcome> {
    if (tool === undefined) {
      const { code, message } = refusal ?? { code: 'TOOL_NOT_FOUND', message: 'The tool no longer exists.' }
      return { ...failedOutcome(code, message), status: 'CANCELLED' }
    }
    try {
      const { inputData, timeoutMs } = execution
      const input = inputData as Record<string, unknown>
      return await this.#parts.runner.prepare(tool, input, {
        timeoutMs: timeoutMs ?? undefined,
        traceparent,
        workspace,
        caller: execution.callerId ?? undefined,
      })
    } catch (thrown) {
      const { code, message, hint } = toLoggedError(this.#parts.logger, thrown, { execution: execution.id })
      return failedOutcome(code, `${message} ${hint}`)
    }
  }
}

/** The span options of a run: its tool, never its input. */
export function runSpanOptions(
  kind: NonNullable<SpanOptions['kind']>,
  { name, version }: Pick<RunnableTool, 'name' | 'version'>,
): SpanOptions {
  return {
    kind,
    attributes: { 'tooldex.tool': name, ...(version === null ? {} : { 'tooldex.tool.version': version }) },
  }
}

/** Adds the state of a run to its span. */
export function noteRunEnd(span: Span, { id, status, attempt, isolation, errorCode }: Execution): void {
  span.set({
    'tooldex.execution': id,
    'tooldex.status': status,
    'tooldex.attempt': attempt,
    ...(isolation === null ? {} : { 'tooldex.isolation': isolation }),
  })
  if (errorCode !== null) span.fail(errorCode)
}
