import { randomUUID } from 'node:crypto'
import { TooldexError, toTooldexError } from '../base/errors.ts'
import { reachPoint } from '../base/fault-points.ts'
import type { Logger } from '../base/logger.ts'
import {
  type Beginning,
  type Execution,
  type ExecutionStore,
  isFinal,
  type NewExecution,
} from '../contract/execution.ts'
import type { Job, RunControls, RunnableTool } from '../contract/executor.ts'
import type { Caller } from '../contract/stores.ts'
import { Caretaker } from './caretaker.ts'
import type { Runner } from './create-runner.ts'
import { hashCall } from './hash-call.ts'
import { Heartbeat } from './heartbeat.ts'
import { performRecorded } from './perform-recorded.ts'
import type { RunObserver } from './run-observer.ts'
import type { RunSettings } from './settings.ts'
import { RunNotices } from './watch.ts'
import { WorkerLoop } from './worker-loop.ts'

/** What recorded runs are made of. */
export interface RecordedRunsParts {
  readonly runner: Runner
  readonly store: ExecutionStore
  readonly settings: RunSettings
  readonly logger: Logger
  /** What this process is called in records; no other has the same name. */
  readonly worker: string
  /** The labels of queued runs that this process takes. */
  readonly labels: readonly string[]
  readonly observer?: RunObserver | undefined
}

/** How one call is made and recorded. */
export interface ExecuteOptions extends RunControls {
  /** Waits for the end; otherwise the run is queued. */
  readonly wait: boolean
  readonly timeoutMs?: number | undefined
  readonly idempotencyKey?: string | undefined
  readonly callerId?: string | undefined
  readonly traceId?: string | undefined
  readonly traceparent?: string | undefined
  readonly needsApproval?: boolean | undefined
  readonly purpose?: string | undefined
}

/** Every call that is recorded goes through here: written down before it runs, and ended by exactly one final write. */
export class RecordedRuns {
  readonly parts: RecordedRunsParts
  readonly heartbeat: Heartbeat
  readonly notices = new RunNotices()
  readonly #loop: WorkerLoop
  readonly #caretaker: Caretaker
  #closing = false

  constructor(parts: RecordedRunsParts) {
    this.parts = parts
    this.heartbeat = new Heartbeat(parts.store, parts.worker, parts.settings)
    this.#caretaker = new Caretaker(parts)
    this.#loop = new WorkerLoop(this)
  }

  /** Listens and looks after what others left; takes runs from the queue unless told not to. */
  async open({ takeWork }: { takeWork: boolean }): Promise<void> {
    await this.notices.open(this.parts.store)
    this.notices.on(({ kind, id }) => {
      if (kind === 'cancel') this.heartbeat.stop(id, 'cancelled')
    })
    this.heartbeat.start()
    this.#caretaker.start()
    if (takeWork) this.#loop.start()
  }

  /** Makes a call: records it, then runs it here, queues it, or lets it wait for a person's yes. */
  async execute(
    caller: Caller,
    tool: RunnableTool,
    given: Readonly<Record<string, unknown>>,
    options: ExecuteOptions,
  ): Promise<Execution> {
    if (this.#closing) throw new TooldexError('SHUTTING_DOWN', 'This server is stopping and takes no more calls.')
    const { runner, labels, store } = this.parts
    const job = await runner.prepare(tool, given, options)
    const label = labelOf(tool)
    const elsewhere = options.needsApproval === true || !options.wait || !labels.includes(label)
    const draft = this.#draft(caller, job, { ...options, elsewhere })
    if (elsewhere) {
      const { execution } = await store.create(caller, draft, this.#queued(label, options.needsApproval === true))
      if (!options.wait || execution.reason === 'approval') return execution
      return this.waitFor(caller, execution.id, options.signal)
    }
    return this.#runHere(caller, job, draft, options)
  }

  async #runHere(caller: Caller, job: Job, draft: NewExecution, options: ExecuteOptions): Promise<Execution> {
    const { runner, store, worker, settings } = this.parts
    const { signal } = options
    const { workspace } = caller
    const entered = runner.slots.tryEnter()
    const turn = entered ? undefined : runner.slots.enter({ signal, caller: `${workspace} ${draft.callerId}` })
    let holds = entered
    try {
      // Where the line is full nothing is written down.
      if (turn !== undefined) await Promise.race([turn, Promise.resolve()])
      const how = entered ? 'run' : 'wait-here'
      const made = await store.create(caller, draft, { how, worker, leaseMs: settings.leaseMs })
      reachPoint('F1 row inserted')
      if (!made.fresh) {
        turn?.then(() => runner.slots.leave()).catch(() => {})
        return isFinal(made.execution.status) ? made.execution : this.waitFor(caller, made.execution.id, signal)
      }
      if (turn === undefined) return await performRecorded(this, { workspace, execution: made.execution }, job, options)
      const execution = await this.#waitForTurn(caller, made.execution, turn)
      holds = !isFinal(execution.status) || holds
      return isFinal(execution.status) ? execution : await performRecorded(this, { workspace, execution }, job, options)
    } finally {
      if (holds) runner.slots.leave()
    }
  }

  /** A run that waits for its turn here is written down already; whoever leaves the line cancels it. */
  async #waitForTurn(caller: Caller, execution: Execution, turn: Promise<void>): Promise<Execution> {
    const { store, worker, settings, runner } = this.parts
    const held = { id: execution.id, attempt: 0, heardAt: performance.now(), stop: () => {} }
    this.heartbeat.hold(held)
    try {
      await turn
    } catch (thrown) {
      const { message } = toTooldexError(thrown)
      return await store.cancel(caller, execution.id, { code: 'EXECUTION_CANCELLED', message })
    } finally {
      this.heartbeat.release(execution.id)
    }
    try {
      const started = await store.start(execution, worker, settings.leaseMs)
      if (started) return { ...execution, status: 'RUNNING', reason: null, attempt: 1 }
      runner.slots.leave()
      return (await store.get(caller.workspace, execution.id)) ?? execution
    } catch (error) {
      runner.slots.leave()
      throw error
    }
  }

  /** Waits until a run has ended, wherever it runs; whoever stops waiting cancels it. */
  async waitFor(caller: Caller, id: string, signal?: AbortSignal): Promise<Execution> {
    const { store } = this.parts
    for (;;) {
      const execution = await store.get(caller.workspace, id)
      if (execution === undefined) throw new TooldexError('NOT_FOUND', `Unknown execution: ${id}.`)
      if (isFinal(execution.status) || execution.reason === 'approval') return execution
      if (signal?.aborted) return this.cancel(caller, id)
      await this.notices.next(id, waitStepMs, signal)
    }
  }

  /** Cancels a run: one that has not started ends now, one that runs is killed within a second. */
  async cancel(caller: Caller, id: string): Promise<Execution> {
    const message = 'The run was cancelled.'
    const execution = await this.parts.store.cancel(caller, id, { code: 'EXECUTION_CANCELLED', message })
    if (isFinal(execution.status)) return execution
    this.heartbeat.stop(id, 'cancelled')
    for (let waited = 0; waited < cancelWaitMs; waited += cancelStepMs) {
      await this.notices.next(id, cancelStepMs)
      const now = await this.parts.store.get(caller.workspace, id)
      if (now === undefined || isFinal(now.status)) return now ?? execution
    }
    return execution
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
      callerId: options.callerId ?? caller.actor,
      traceId: options.traceId ?? null,
      idempotencyKey: options.idempotencyKey ?? null,
      bodyHash: options.idempotencyKey === undefined ? null : hashCall(tool, input),
      maxAttempts: readOnlyHint === true || idempotentHint === true ? this.parts.settings.attempts : 1,
      // A version can be read again; a tool of a config must come along where another process may run it.
      definition: tool.id === null && options.elsewhere ? tool : null,
      purpose: options.purpose ?? null,
    }
  }

  #queued(label: string, needsApproval: boolean): Beginning {
    const { queueMs, approvalMs, waiting: limits } = this.parts.settings
    return needsApproval
      ? { how: 'approval', label, withinMs: approvalMs, limits }
      : { how: 'queue', label, withinMs: queueMs, limits }
  }

  /** Takes no more work, lets what runs end, and stops what has not ended by then. */
  async close(drainMs: number): Promise<void> {
    this.#closing = true
    this.#loop.stop()
    const end = performance.now() + drainMs
    while (this.heartbeat.size > 0 && performance.now() < end) await sleepBriefly()
    this.heartbeat.stopAll('closing')
    const last = performance.now() + lastWritesMs
    while (this.heartbeat.size > 0 && performance.now() < last) await sleepBriefly()
    this.heartbeat.close()
    this.#caretaker.close()
    await this.notices.close()
  }
}

const waitStepMs = 1000
const [cancelStepMs, cancelWaitMs] = [250, 2000]
const lastWritesMs = 4000
const sleepBriefly = () => new Promise((resolve) => setTimeout(resolve, 20))

/** The label of the workers that a tool asks for. */
const labelOf = ({ executorConfig }: RunnableTool): string =>
  typeof executorConfig.worker === 'string' ? executorConfig.worker : ''
