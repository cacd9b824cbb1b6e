import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { TooldexError } from '../base/errors.ts'
import { reachPoint } from '../base/fault-points.ts'
import type { Logger } from '../base/logger.ts'
import type { Beginning, Execution, ExecutionStore, NewExecution } from '../contract/execution.ts'
import type { Job, RunControls, RunnableTool } from '../contract/executor.ts'
import type { Caller } from '../contract/stores.ts'
import { type RunObserver, type Span, type Tracing, untraced } from '../contract/telemetry.ts'
import type { WorkerInfo } from '../contract/worker.ts'
import { isFinal } from '../rules/is-final.ts'
import type { Runner } from './create-runner.ts'
import { drainText, stoppingText } from './drain-text.ts'
import { hashCall } from './hash-call.ts'
import { Heartbeat } from './heartbeat.ts'
import { labelOf } from './label-of.ts'
import { runInline } from './run-inline.ts'
import { RunNotices } from './run-notices.ts'
import type { RunSettings } from './settings.ts'
import { Sweeper } from './sweeper.ts'
import { aboutRun, noteEnd } from './trace-run.ts'
import { WorkerLoop } from './worker-loop.ts'

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
  readonly observer?: RunObserver | undefined
  readonly tracing?: Tracing | undefined
}

/** The options of one recorded call. */
export interface ExecuteOptions extends RunControls {
  /** Whether to wait for the end; otherwise the run is queued. */
  readonly wait: boolean
  readonly timeoutMs?: number | undefined
  readonly idempotencyKey?: string | undefined
  /** A label that the caller chose; it does not authenticate the caller. */
  readonly callerLabel?: string | undefined
  readonly traceId?: string | undefined
  readonly traceparent?: string | undefined
  readonly needsApproval?: boolean | undefined
  /** Throws where a call that waited for a slot of this process is no longer allowed. */
  readonly recheck?: (() => Promise<void>) | undefined
  readonly purpose?: string | undefined
}

/** The options of waiting for a run. */
interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether the run belongs to another call with the same key, and so continues when this one stops waiting. */
  readonly joined?: boolean | undefined
  /** The maximum wait for the start of the run. */
  readonly patienceMs?: number | undefined
}

type Input = Readonly<Record<string, unknown>>

/** The path of every recorded call: stored before it runs, and ended by exactly one final write. */
export class RecordedRuns {
  readonly parts: RecordedRunsParts
  readonly heartbeat: Heartbeat
  readonly notices = new RunNotices()
  readonly #loop: WorkerLoop
  readonly #sweeper: Sweeper
  /** The current work of this process: its runs, and the claiming of more. */
  readonly #active = new Set<Promise<unknown>>()
  /** Ends the waiting for runs that continue after this process. */
  readonly #leaving = new AbortController()
  #closing = false

  constructor(parts: RecordedRunsParts) {
    this.parts = parts
    this.heartbeat = new Heartbeat(parts, parts.info)
    setMaxListeners(0, this.#leaving.signal)
    this.#sweeper = new Sweeper(parts, this.heartbeat)
    this.#loop = new WorkerLoop(this)
  }

  /** The labels of the queued runs that this process takes. */
  get labels(): readonly string[] {
    return ['', ...this.parts.info.labels]
  }

  /** Registers this process as a worker: listens, sweeps, and takes runs from the queue where it takes work. */
  async open(): Promise<void> {
    const { store, observer, info } = this.parts
    if (observer !== undefined) store.onUnattendedEnd((end) => observer.endedQuietly(end))
    await this.notices.open(store)
    this.notices.on(({ kind, id }) => {
      if (kind === 'cancel') this.heartbeat.stop(id, 'cancelled')
    })
    await this.heartbeat.start()
    this.#sweeper.start()
    if (info.takesWork) this.#loop.start()
  }

  /** Records a call, then runs it in this process, queues it, or lets it wait for approval. */
  async execute(caller: Caller, tool: RunnableTool, input: Input, options: ExecuteOptions): Promise<Execution> {
    if (this.#closing) throw new TooldexError('SHUTTING_DOWN', 'This server is stopping and accepts no more calls.')
    const { runsTools, tracing = untraced } = this.parts
    const runsHere = runsTools && options.wait && this.labels.includes(labelOf(tool))
    const isQueued = options.needsApproval === true || !runsHere
    const about = { ...aboutRun(isQueued ? 'producer' : 'internal', tool), parent: options.traceparent }
    return tracing.inSpan(`${isQueued ? 'queue' : 'run'} ${tool.name}`, about, async (span) => {
      const { traceparent, traceId } = span
      const traced = { ...options, traceparent, traceId: options.traceId ?? traceId }
      return isQueued ? this.#queue(caller, tool, input, traced) : this.#runNow(caller, tool, input, traced, span)
    })
  }

  async #queue(caller: Caller, tool: RunnableTool, input: Input, options: ExecuteOptions): Promise<Execution> {
    const { runner, store } = this.parts
    const { signal, wait, needsApproval = false } = options
    const job = await runner.prepare(tool, input, { ...options, workspace: caller.workspace })
    const draft = this.#draft(caller, job, { ...options, elsewhere: true })
    const { execution, fresh } = await store.create(caller, draft, this.#waiting(labelOf(tool), needsApproval))
    reachPoint('F1 row inserted')
    return wait ? this.#awaited(caller, execution, { signal, joined: !fresh, label: labelOf(tool) }) : execution
  }

  async #runNow(...[caller, tool, input, options, span]: [Caller, RunnableTool, Input, ExecuteOptions, Span]) {
    const job = await this.parts.runner.prepare(tool, input, { ...options, workspace: caller.workspace })
    const call = { caller, job, draft: this.#draft(caller, job, { ...options, elsewhere: false }), controls: options }
    const { execution: begun, joined } = await this.track(runInline(this, call))
    const { signal } = options
    const execution = isFinal(begun.status) ? begun : await this.#awaited(caller, begun, { signal, joined })
    noteEnd(span, execution)
    return execution
  }

  /** Waits for the end; the wait for the start is bounded by the deadline of the run plus a few seconds. */
  async #awaited(caller: Caller, { id, timeoutMs }: Execution, options: WaitOptions & { readonly label?: string }) {
    const patienceMs = (timeoutMs ?? 0) + startGraceMs
    const now = await this.track(this.waitFor(caller, id, { ...options, patienceMs }))
    if (isFinal(now.status) || now.reason === 'approval' || options.signal?.aborted) return now
    if (this.#leaving.signal.aborted) return { ...now, errorCode: 'STILL_QUEUED', errorMessage: leftMessage }
    const label = options.label ? ` with the label ${options.label}` : ''
    const errorMessage = `No worker${label} took the call in ${Math.round(patienceMs / 1000)} s; it still waits.`
    return { ...now, errorCode: 'STILL_QUEUED', errorMessage }
  }

  /** Registers work that `close` waits for. */
  async track<Result>(work: Promise<Result>): Promise<Result> {
    this.#active.add(work)
    try {
      return await work
    } finally {
      this.#active.delete(work)
    }
  }

  /** Waits until a run has ended in any process; a caller that stops waiting for its own call cancels it. */
  async waitFor(caller: Caller, id: string, options: WaitOptions = {}): Promise<Execution> {
    const { store } = this.parts
    const { signal, joined = false, patienceMs = Number.POSITIVE_INFINITY } = options
    const until = performance.now() + patienceMs
    const leaving = this.#leaving.signal
    const woken = signal === undefined ? leaving : AbortSignal.any([signal, leaving])
    for (;;) {
      const execution = await store.get(caller.workspace, id)
      if (execution === undefined) throw new TooldexError('NOT_FOUND', `Unknown execution: ${id}.`)
      if (isFinal(execution.status) || execution.reason === 'approval') return execution
      if (signal?.aborted) return joined ? execution : this.#cancelUnlessEnded(caller, execution)
      if (leaving.aborted || (execution.status === 'PENDING' && performance.now() >= until)) return execution
      await this.notices.next(id, waitStepMs, woken)
    }
  }

  /** Cancels a run: one that has not started ends now, a running one is killed within a second. */
  async cancel(caller: Caller, id: string): Promise<Execution> {
    const message = 'The run was cancelled.'
    const execution = await this.parts.store.cancel(caller, id, { code: 'EXECUTION_CANCELLED', message })
    this.heartbeat.stop(id, 'cancelled')
    if (isFinal(execution.status)) return execution
    for (let waited = 0; waited < cancelWaitMs; waited += cancelStepMs) {
      await this.notices.next(id, cancelStepMs)
      const now = await this.parts.store.get(caller.workspace, id)
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
      return (await this.parts.store.get(caller.workspace, execution.id)) ?? execution
    }
  }

  #draft(caller: Caller, job: Job, options: ExecuteOptions & { readonly elsewhere: boolean }): NewExecution {
    const { tool, input } = job
    const { readOnlyHint, idempotentHint } = tool.annotations
    return {
      id: randomUUID(),
      toolId: tool.id,
      toolName: tool.name,
      version: tool.version,
      inputData: input,
      timeoutMs: this.parts.runner.deadlineMs(job),
      callerId: caller.actor,
      callerLabel: options.callerLabel ?? null,
      traceId: options.traceId ?? null,
      traceparent: options.traceparent ?? null,
      idempotencyKey: options.idempotencyKey ?? null,
      bodyHash: options.idempotencyKey === undefined ? null : hashCall(tool, input),
      maxAttempts: readOnlyHint === true || idempotentHint === true ? this.parts.settings.attempts : 1,
      // A version can be read again; a tool of a config must be stored with the run where another process may run it.
      definition: tool.id === null && options.elsewhere ? tool : null,
      purpose: options.purpose ?? null,
    }
  }

  #waiting(label: string, needsApproval: boolean): Beginning {
    const { queueMs, approvalMs, waiting: limits } = this.parts.settings
    return needsApproval
      ? { how: 'approval', label, withinMs: approvalMs, limits }
      : { how: 'queue', label, withinMs: queueMs, limits }
  }

  /** Whether this process is stopping. */
  get isClosing(): boolean {
    return this.#closing
  }

  /**
   * Accepts no more work and waits for the runs. Those that have not ended by then are stopped: a run whose tool may run again goes
   * back to the queue, any other is cancelled. Waiting callers receive the current state of their run.
   */
  async close(drainMs: number, report: (line: string) => void = () => {}): Promise<void> {
    this.#closing = true
    void this.track(this.#loop.stop())
    this.heartbeat.stopWaiting()
    await this.#idle(50)
    if (this.#active.size > 0 && drainMs > 0) report(drainText(this.heartbeat.runs, drainMs))
    await this.#idle(drainMs)
    if (this.heartbeat.runs.length > 0) report(stoppingText(this.heartbeat.runs))
    this.heartbeat.stopAll('closing')
    this.#leaving.abort()
    await this.#idle(lastWritesMs)
    await this.heartbeat.close()
    this.#sweeper.close()
    await this.notices.close()
  }

  /** Waits until this process has no work, at most this long. */
  async #idle(withinMs: number): Promise<void> {
    const end = performance.now() + withinMs
    while (this.#active.size > 0 && performance.now() < end) await sleepBriefly()
  }
}

const leftMessage = 'This server is stopping before the end of the run, which is queued or runs on another worker.'
const waitStepMs = 1000
const startGraceMs = 5000
const [cancelStepMs, cancelWaitMs] = [250, 2000]
const lastWritesMs = 4000
const sleepBriefly = () => new Promise((resolve) => setTimeout(resolve, 20))
