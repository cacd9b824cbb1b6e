import { type ErrorCode, TooldexError, toTooldexError } from '../base/errors.ts'
import type { Semaphore } from '../base/semaphore.ts'
import type { Execution, ExecutionStore } from '../contract/execution.ts'
import type { RunnableTool } from '../contract/executor.ts'
import { findExecutorKind } from '../contract/executor-kinds.ts'
import type { Caller } from '../contract/stores.ts'
import { isFinal } from '../rules/is-final.ts'
import type { Runner } from './create-runner.ts'
import type { ValidatedCall } from './draft-execution.ts'
import type { Leases, StopReason } from './leases.ts'
import type { BegunRun, RunRecorder } from './run-recorder.ts'
import type { RunSettings } from './settings.ts'

interface InlineRunsParts {
  readonly runner: Pick<Runner, 'slotsOf'>
  readonly store: Pick<ExecutionStore, 'start' | 'cancel' | 'get'>
  readonly recorder: Pick<RunRecorder, 'create' | 'perform' | 'performWhileRecording'>
  readonly leases: Pick<Leases, 'hold' | 'release' | 'worker'>
  readonly settings: Pick<RunSettings, 'leaseMs'>
}

/** The run of an inline call; where it has not ended, it continues in another process. */
interface InlineRun {
  readonly execution: Execution
  /** Whether the run belongs to another call with the same idempotency key. */
  readonly joined: boolean
}

/** Runs calls in the process that received them: at once where a slot is free, otherwise after waiting for one. */
export class InlineRuns {
  readonly #parts: InlineRunsParts

  constructor(parts: InlineRunsParts) {
    this.#parts = parts
  }

  async run(call: ValidatedCall): Promise<InlineRun> {
    const { runner, recorder, leases, settings } = this.#parts
    const { caller, job, options } = call
    const { workspace } = caller
    const holder = { signal: options.signal, caller: `${workspace} ${caller.actor}` }
    const ticket = new SlotTicket(runner.slotsOf(job.tool), holder)
    try {
      // Nothing is recorded where too many calls wait already.
      await ticket.checkRoom()
      const begunAt = performance.now()
      const unflushed = isHarmless(call)
      const begin = { worker: leases.worker, leaseMs: settings.leaseMs, unflushed }
      if (unflushed && !ticket.waits && isMessage(job.tool)) {
        const execution = await recorder.performWhileRecording(call, { how: 'run', ...begin }, begunAt)
        return { execution, joined: false }
      }
      const { execution, fresh } = await recorder.create(call, { how: ticket.waits ? 'wait-here' : 'run', ...begin })
      if (!fresh) return { execution, joined: true }
      const recorded = { workspace, execution, begunAt, isLimited: options.limits !== undefined }
      const begun = ticket.waits ? await this.#waitForSlot(call, recorded, ticket) : recorded
      const ended = isFinal(begun.execution.status) ? begun.execution : await recorder.perform(begun, job, options)
      return { execution: ended, joined: false }
    } finally {
      ticket.leave()
    }
  }

  /** Waits for a slot for a recorded run; a caller that stops waiting cancels the run. */
  async #waitForSlot({ caller, options }: ValidatedCall, recorded: BegunRun, ticket: SlotTicket): Promise<BegunRun> {
    const { store, leases, settings } = this.#parts
    const { execution, begunAt } = recorded
    let why = undefined as StopReason | undefined
    const leased = {
      id: execution.id,
      attempt: 0,
      begunAt,
      toolName: execution.toolName,
      stop(stopReason: StopReason) {
        why ??= stopReason
        ticket.leave()
      },
    }
    leases.hold(leased)
    try {
      await ticket.turn
      if (why !== undefined) throw new TooldexError('EXECUTION_CANCELLED', reasons[why].message)
      await options.recheck?.()
    } catch (thrown) {
      const reason = why === undefined ? toTooldexError(thrown) : reasons[why]
      return { ...recorded, execution: await this.#endWaiting(caller, execution, reason) }
    } finally {
      leases.release(leased)
    }
    const startedAt = performance.now()
    if (await store.start(execution, leases.worker, settings.leaseMs))
      return {
        ...recorded,
        execution: { ...execution, status: 'RUNNING', reason: null, attempt: 1 },
        begunAt: startedAt,
      }
    return { ...recorded, execution: await this.#read(caller, execution) }
  }

  /** Ends a waiting run that was not ended otherwise, because its caller has gone or this process stops. */
  async #endWaiting(caller: Caller, execution: Execution, why: EndReason): Promise<Execution> {
    const now = await this.#read(caller, execution)
    if (isFinal(now.status)) return now
    try {
      return await this.#parts.store.cancel(caller, execution.id, why)
    } catch (thrown) {
      if (thrown instanceof TooldexError && thrown.code === 'ILLEGAL_STEP') return this.#read(caller, execution)
      throw thrown
    }
  }

  async #read({ workspace }: Caller, { id }: Execution): Promise<Execution> {
    const now = await this.#parts.store.get(workspace, id)
    if (now !== undefined) return now
    throw new TooldexError('NOT_FOUND', `The execution ${id} no longer exists.`)
  }
}

/** Whether nothing is lost with the record of a call that has not been answered: a later write of the run flushes it. */
const isHarmless = ({ job: { tool }, options: { idempotencyKey } }: ValidatedCall): boolean =>
  tool.annotations.readOnlyHint === true && idempotencyKey === undefined

/** Whether a call of a tool only sends a message: a process that starts before its row would be unknown after a crash. */
const isMessage = ({ executorType }: RunnableTool): boolean =>
  executorType !== 'program' && findExecutorKind(executorType)?.isProcess === false

interface EndReason {
  readonly code: ErrorCode
  readonly message: string
}

const reasons: Readonly<Record<StopReason, EndReason>> = {
  cancelled: { code: 'EXECUTION_CANCELLED', message: 'The run was cancelled.' },
  closing: { code: 'SHUTTING_DOWN', message: 'The server stopped while the call waited for a slot.' },
  lost: {
    code: 'CALLER_LOST',
    message: 'The process that received the call lost its connection to the database before the tool was started.',
  },
}

/** A slot, or a position in the queue for one; `leave` releases exactly what was taken, in every case. */
export class SlotTicket {
  /** Whether no slot was free. */
  readonly waits: boolean
  /** Resolves with the slot; rejects where the ticket left the queue before. */
  readonly turn: Promise<void>
  readonly #slots: Semaphore
  readonly #entering: Promise<void>
  readonly #leaving = new AbortController()
  #holds: boolean
  #left = false

  constructor(slots: Semaphore, { signal, caller }: { signal?: AbortSignal | undefined; caller: string }) {
    this.#slots = slots
    this.#holds = slots.tryEnter()
    this.waits = !this.#holds
    this.#entering = this.waits ? slots.enter({ signal: this.#leavingOr(signal), caller }) : Promise.resolve()
    this.turn = this.waits ? this.#entering.then(() => this.#take()) : this.#entering
    this.turn.catch(() => {})
  }

  #leavingOr(signal: AbortSignal | undefined): AbortSignal {
    return AbortSignal.any([this.#leaving.signal, ...(signal === undefined ? [] : [signal])])
  }

  /** Rejects where too many calls wait already. */
  async checkRoom(): Promise<void> {
    await Promise.race([this.#entering, Promise.resolve()])
  }

  #take(): void {
    this.#holds = !this.#left
    if (this.#holds) return
    this.#slots.leave()
    throw new TooldexError('EXECUTION_CANCELLED', 'The call was cancelled while it waited for a slot.')
  }

  leave(): void {
    if (this.#left) return
    this.#left = true
    if (this.#holds) this.#slots.leave()
    else this.#leaving.abort()
  }
}
