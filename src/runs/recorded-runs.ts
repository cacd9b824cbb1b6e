import { TooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import type { Execution, ExecutionStore } from '../contract/execution.ts'
import type { RunnableTool } from '../contract/executor.ts'
import type { WorkerInfo } from '../contract/run.ts'
import type { Caller } from '../contract/stores.ts'
import { type RunObserver, type Tracing, untraced } from '../contract/telemetry.ts'
import { isFinal } from '../rules/is-final.ts'
import type { Runner } from './create-runner.ts'
import { type ExecuteOptions, labelOf, type ValidatedCall } from './draft-execution.ts'
import { InlineRuns } from './inline-runs.ts'
import { type LeasedRun, Leases } from './leases.ts'
import { noteRunEnd, RunQueue, runSpanOptions } from './run-queue.ts'
import { RunRecorder } from './run-recorder.ts'
import { RunNotices, RunWaits } from './run-waits.ts'
import type { RunSettings } from './settings.ts'
import { Sweeper } from './sweeper.ts'

/** The dependencies of recorded runs. */
export interface RecordedRunsParts {
  readonly runner: Runner
  readonly store: ExecutionStore
  readonly settings: RunSettings
  readonly logger: Logger
  /** This process in records and in the list of workers; its name is unique. */
  readonly info: WorkerInfo
  /** Whether this process runs tools; otherwise every call goes through the queue. */
  readonly runsTools: boolean
  /** Whether only queued runs with a label of this process are taken. */
  readonly takesOwnOnly?: boolean | undefined
  readonly observer?: RunObserver | undefined
  readonly tracing?: Tracing | undefined
}

/** The path of every recorded call: stored before it runs, and ended by exactly one final write. */
export class RecordedRuns {
  readonly settings: RunSettings
  readonly #parts: RecordedRunsParts
  /** The labels of the queued runs that this process takes. */
  readonly #labels: readonly string[]
  readonly #notices = new RunNotices()
  readonly #leases: Leases
  readonly #sweeper: Sweeper
  readonly #recorder: RunRecorder
  readonly #inline: InlineRuns
  readonly #queue: RunQueue
  readonly #waits: RunWaits
  /** The current work of this process: its runs, and the claiming of more. */
  readonly #active = new Set<Promise<unknown>>()
  #closing = false

  constructor(parts: RecordedRunsParts) {
    const { info } = parts
    const notices = this.#notices
    this.settings = parts.settings
    this.#parts = parts
    this.#labels = ['', ...info.labels]
    const leases = new Leases(parts, info)
    const recorder = new RunRecorder({ ...parts, leases, notices })
    this.#leases = leases
    this.#recorder = recorder
    this.#sweeper = new Sweeper({ ...parts, leases })
    this.#inline = new InlineRuns({ ...parts, leases, recorder })
    this.#waits = new RunWaits({ ...parts, leases, notices })
    const track = (work: Promise<void>) => this.#track(work)
    const labels = parts.takesOwnOnly === true ? info.labels : this.#labels
    this.#queue = new RunQueue({ ...parts, recorder, notices, worker: info.worker, labels, track })
  }

  /** Registers this process as a worker: listens, sweeps, and takes runs from the queue where it takes work. */
  async open(): Promise<void> {
    const { store, observer, info } = this.#parts
    if (observer !== undefined) store.onUnattendedEnd((end) => observer.endedQuietly(end))
    await this.#notices.open(store)
    this.#notices.on(({ kind, id }) => {
      if (kind === 'cancel') this.#leases.stop(id, 'cancelled')
    })
    await this.#leases.start()
    this.#sweeper.start()
    if (info.takesWork) this.#queue.start()
  }

  /** Records a call, then runs it in this process, queues it, or lets it wait for approval. */
  async execute(
    caller: Caller,
    tool: RunnableTool,
    input: Readonly<Record<string, unknown>>,
    options: ExecuteOptions,
  ): Promise<Execution> {
    if (this.#closing) throw new TooldexError('SHUTTING_DOWN', 'This server is stopping and accepts no more calls.')
    const { runner, runsTools, tracing = untraced } = this.#parts
    // The calls of a program are made with the permissions of its caller, which only this process has.
    const isProgram = tool.executorType === 'program'
    const runsHere = isProgram || (runsTools && options.wait && this.#labels.includes(labelOf(tool)))
    const isQueued = options.needsApproval === true || !runsHere
    const about = { ...runSpanOptions(isQueued ? 'producer' : 'internal', tool), parent: options.traceparent }
    return tracing.inSpan(`${isQueued ? 'queue' : 'run'} ${tool.name}`, about, async (span) => {
      const { traceparent, traceId } = span
      const traced = { ...options, traceparent, traceId: options.traceId ?? traceId }
      const job = await runner.prepare(tool, input, {
        ...traced,
        workspace: caller.workspace,
        caller: caller.actor,
      })
      const call = { caller, job, options: traced }
      if (isQueued) return this.#enqueue(call)
      if (!options.wait) return this.#runDetached(call)
      const execution = await this.#runNow(call)
      noteRunEnd(span, execution)
      return execution
    })
  }

  async #enqueue(call: ValidatedCall): Promise<Execution> {
    const { caller, job, options } = call
    const { queueMs, approvalMs, waiting: limits } = this.settings
    const label = labelOf(job.tool)
    const { execution, fresh } = await this.#recorder.create(
      call,
      options.needsApproval
        ? { how: 'approval', label, withinMs: approvalMs, limits }
        : { how: 'queue', label, withinMs: queueMs, limits },
    )
    if (!options.wait) return execution
    return this.#track(this.#waits.untilEnd(caller, execution, { signal: options.signal, joined: !fresh, label }))
  }

  async #runNow(call: ValidatedCall): Promise<Execution> {
    const { caller, options } = call
    const { execution, joined } = await this.#track(this.#inline.run(call))
    if (isFinal(execution.status)) return execution
    return this.#track(this.#waits.untilEnd(caller, execution, { signal: options.signal, joined }))
  }

  /** Runs a call that its caller does not wait for; returns once it is recorded. */
  #runDetached({ options, ...call }: ValidatedCall): Promise<Execution> {
    return new Promise((resolve, reject) => {
      const onRecorded = (execution: Execution) => {
        options.onRecorded?.(execution)
        resolve(execution)
      }
      this.#runNow({ ...call, options: { ...options, onRecorded, signal: undefined } }).then(resolve, reject)
    })
  }

  /** Cancels a run: one that has not started ends now, a running one is killed within a second. */
  cancel(caller: Caller, id: string): Promise<Execution> {
    return this.#waits.cancel(caller, id)
  }

  /** Waits for a change of a run in any process, at most this long. */
  nextChange(id: string, withinMs: number, signal?: AbortSignal): Promise<void> {
    return this.#notices.next(id, withinMs, signal)
  }

  /** Whether this process is stopping. */
  get isClosing(): boolean {
    return this.#closing
  }

  /** Renews the lease of this process now; throws where the database does not confirm it. */
  renewLease(): Promise<void> {
    return this.#leases.renew()
  }

  /** Registers work that `close` waits for. */
  async #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#active.add(work)
    try {
      return await work
    } finally {
      this.#active.delete(work)
    }
  }

  /**
   * Accepts no more work and waits for the runs. Those that have not ended by then are stopped: a run whose tool may run again goes
   * back to the queue, any other is cancelled. Waiting callers receive the current state of their run.
   */
  async close(drainMs: number, report: (line: string) => void = () => {}): Promise<void> {
    this.#closing = true
    const leases = this.#leases
    void this.#track(this.#queue.stop())
    leases.stopWaiting()
    await this.#idle(50)
    if (this.#active.size > 0 && drainMs > 0) report(drainText(leases.runs, drainMs))
    await this.#idle(drainMs)
    if (leases.runs.length > 0) report(stoppingText(leases.runs))
    leases.stopAll('closing')
    this.#waits.leave()
    await this.#idle(lastWritesMs)
    await leases.close()
    this.#sweeper.close()
    await this.#notices.close()
  }

  /** Waits until this process has no work, at most this long. */
  async #idle(withinMs: number): Promise<void> {
    const end = performance.now() + withinMs
    while (this.#active.size > 0 && performance.now() < end) await sleepBriefly()
  }
}

const lastWritesMs = 4000
const sleepBriefly = () => new Promise((resolve) => setTimeout(resolve, 20))
const maxListed = 5

/** The line about the runs that a stopping process waits for. */
function drainText(runs: readonly LeasedRun[], drainMs: number): string {
  const seconds = `${Math.round(drainMs / 100) / 10} s`
  if (runs.length === 0) return `stopping: waiting up to ${seconds} for calls that run in other processes`
  return `stopping: waiting up to ${seconds} for ${namesOf(runs)}`
}

/** The line about the runs that did not end in time. */
const stoppingText = (runs: readonly LeasedRun[]): string =>
  `stopping: ${namesOf(runs)} did not end in time; idempotent runs go back to the queue, others are cancelled`

function namesOf(runs: readonly LeasedRun[]): string {
  const names = runs.slice(0, maxListed).map(({ toolName, id }) => `${toolName} (${id})`)
  const more = runs.length > maxListed ? ` and ${runs.length - maxListed} more` : ''
  return `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}: ${names.join(', ')}${more}`
}
