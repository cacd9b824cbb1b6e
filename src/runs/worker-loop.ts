import { toTooldexError } from '../base/errors.ts'
import { reachPoint } from '../base/fault-points.ts'
import { logged } from '../base/logger.ts'
import { workFor } from '../base/semaphore.ts'
import type { ClaimedExecution, Execution } from '../contract/execution.ts'
import type { Job } from '../contract/executor.ts'
import type { RunOutcome } from '../contract/run.ts'
import { untraced } from '../contract/telemetry.ts'
import { failure } from './create-runner.ts'
import { finish, isOwn, performRecorded } from './perform-recorded.ts'
import type { RecordedRuns } from './recorded-runs.ts'
import { shapeOutput } from './shape-output.ts'
import { aboutRun, noteEnd } from './trace-run.ts'

const maxClaims = 32

type Taken = ClaimedExecution & { readonly begunAt: number }

/** Takes runs from the queue while slots are free: at a notice, when a slot is freed, and by polling. */
export class WorkerLoop {
  readonly #runs: RecordedRuns
  #timer: NodeJS.Timeout | undefined
  #going: Promise<void> | undefined
  #again = false
  #stopped = true
  /** Whether the last claim found the queue empty and no notice came since. */
  #empty = false
  #unsubscribe: () => void = () => {}

  constructor(runs: RecordedRuns) {
    this.#runs = runs
  }

  start(): void {
    const { runner, settings } = this.#runs.parts
    this.#stopped = false
    this.#runs.notices.on(({ kind }) => {
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
      this.#runs.parts.logger.warn('reading the queue failed', { reason: toTooldexError(thrown).message })
    } finally {
      this.#going = undefined
    }
  }

  async #takeSome(): Promise<void> {
    const { runner, store, info, settings } = this.#runs.parts
    const { labels } = this.#runs
    const limit = Math.min(runner.slots.free, maxClaims)
    if (limit === 0) return
    let slots = 0
    while (slots < limit && runner.slots.tryEnter()) slots++
    let used = 0
    try {
      const begunAt = performance.now()
      const claimed = await store.claim(info.worker, { limit: slots, labels, leaseMs: settings.leaseMs })
      if (claimed.length > 0) reachPoint('F2 claimed')
      used = claimed.length
      for (const each of claimed) void this.#runs.track(this.#run({ ...each, begunAt }))
      // There may be more runs than slots; runs that were queued meanwhile have woken the loop again.
      if (claimed.length === slots) this.#again = true
      else this.#empty = !this.#again
    } finally {
      for (; used < slots; used++) runner.slots.leaveQuietly()
    }
  }

  async #run(claimed: Taken): Promise<void> {
    const { runner, logger, tracing = untraced } = this.#runs.parts
    const { execution, traceparent } = claimed
    const about = {
      ...aboutRun('consumer', { ...execution, name: execution.toolName }),
      parent: traceparent ?? undefined,
    }
    try {
      // The active span belongs to the call that woke the loop.
      await tracing.inSpan(`run ${execution.toolName}`, { ...about, detached: true }, async (span) =>
        noteEnd(
          span,
          await workFor(`${claimed.workspace} ${execution.callerId}`, () => this.#perform(claimed, span.traceparent)),
        ),
      )
    } catch (thrown) {
      const { code, message } = logged(logger, thrown)
      logger.error('ending a run failed', { execution: execution.id, code, reason: message })
    } finally {
      runner.slots.leave()
    }
  }

  async #perform(claimed: Taken, traceparent: string | undefined): Promise<Execution> {
    const { settings, observer } = this.#runs.parts
    const { execution, workspace } = claimed
    const job = await this.#prepare(claimed, traceparent)
    if (!('status' in job)) return performRecorded(this.#runs, claimed, job, {})
    const ended = observer?.started(execution, workspace)
    const run = await shapeOutput(job, false, settings)
    const final = await finish(this.#runs, claimed, run).catch((thrown) => {
      ended?.()
      throw thrown
    })
    ended?.(isOwn(final, run) ? final : undefined)
    return final
  }

  /** Returns the prepared call, or the outcome of a call that can no longer run. */
  async #prepare(
    { execution, workspace, tool, refusal }: ClaimedExecution,
    traceparent: string | undefined,
  ): Promise<Job | RunOutcome> {
    if (tool === undefined) {
      const { code, message } = refusal ?? { code: 'TOOL_NOT_FOUND', message: 'The tool no longer exists.' }
      return { ...failure(code, message), status: 'CANCELLED' }
    }
    try {
      const { inputData, timeoutMs } = execution
      const input = inputData as Record<string, unknown>
      return await this.#runs.parts.runner.prepare(tool, input, {
        timeoutMs: timeoutMs ?? undefined,
        traceparent,
        workspace,
      })
    } catch (thrown) {
      const { code, message, hint } = logged(this.#runs.parts.logger, thrown, { execution: execution.id })
      return failure(code, `${message} ${hint}`)
    }
  }
}
