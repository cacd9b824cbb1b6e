import { type ErrorCode, TooldexError, toTooldexError } from '../base/errors.ts'
import { reachPoint } from '../base/fault-points.ts'
import type { Execution, NewExecution } from '../contract/execution.ts'
import type { Job, RunControls } from '../contract/executor.ts'
import type { Caller } from '../contract/stores.ts'
import { isFinal } from '../rules/is-final.ts'
import type { StopReason } from './heartbeat.ts'
import { performRecorded } from './perform-recorded.ts'
import type { RecordedRuns } from './recorded-runs.ts'
import { SlotTicket } from './slot-ticket.ts'

/** A call that runs in the process that received it. */
export interface InlineCall {
  readonly caller: Caller
  readonly job: Job
  readonly draft: NewExecution
  readonly controls: RunControls & { readonly recheck?: (() => Promise<void>) | undefined }
}

/** The run of an inline call; where it has not ended, it continues in another process. */
export interface InlineRun {
  readonly execution: Execution
  /** Whether the run belongs to another call with the same idempotency key. */
  readonly joined: boolean
}

/** Runs a call in this process: at once where a slot is free, otherwise after waiting for one. */
export async function runInline(runs: RecordedRuns, call: InlineCall): Promise<InlineRun> {
  const { runner, store, settings, info } = runs.parts
  const { caller, job, draft, controls } = call
  const { workspace } = caller
  const ticket = new SlotTicket(runner.slots, { signal: controls.signal, caller: `${workspace} ${draft.callerId}` })
  try {
    // Nothing is recorded where too many calls wait already.
    await ticket.checkRoom()
    const begunAt = performance.now()
    const how = ticket.waits ? 'wait-here' : 'run'
    const { execution, fresh } = await store.create(caller, draft, {
      how,
      worker: info.worker,
      leaseMs: settings.leaseMs,
    })
    reachPoint('F1 row inserted')
    if (!fresh) return { execution, joined: true }
    const begun = ticket.waits
      ? await waitForSlot(runs, call, { execution, begunAt, ticket })
      : { workspace, execution, begunAt }
    const ended = isFinal(begun.execution.status) ? begun.execution : await performRecorded(runs, begun, job, controls)
    return { execution: ended, joined: false }
  } finally {
    ticket.leave()
  }
}

interface Waiting {
  readonly execution: Execution
  readonly begunAt: number
  readonly ticket: SlotTicket
}

/** Waits for a slot for a recorded run; a caller that stops waiting cancels the run. */
async function waitForSlot(runs: RecordedRuns, call: InlineCall, { execution, begunAt, ticket }: Waiting) {
  const { store, settings, info } = runs.parts
  const { workspace } = call.caller
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
  runs.heartbeat.hold(leased)
  try {
    await ticket.turn
    if (why !== undefined) throw new TooldexError('EXECUTION_CANCELLED', reasons[why].message)
    await call.controls.recheck?.()
  } catch (thrown) {
    const reason = why === undefined ? toTooldexError(thrown) : reasons[why]
    return { workspace, execution: await endWaiting(runs, call, execution, reason), begunAt }
  } finally {
    runs.heartbeat.release(leased)
  }
  const startedAt = performance.now()
  if (await store.start(execution, info.worker, settings.leaseMs))
    return {
      workspace,
      execution: { ...execution, status: 'RUNNING', reason: null, attempt: 1 } as const,
      begunAt: startedAt,
    }
  return { workspace, execution: await readAgain(runs, call.caller, execution), begunAt }
}

/** Ends a waiting run that was not ended otherwise, because its caller has gone or this process stops. */
async function endWaiting(
  runs: RecordedRuns,
  { caller }: InlineCall,
  execution: Execution,
  why: { readonly code: ErrorCode; readonly message: string },
): Promise<Execution> {
  const now = await readAgain(runs, caller, execution)
  if (isFinal(now.status)) return now
  try {
    return await runs.parts.store.cancel(caller, execution.id, why)
  } catch (thrown) {
    if (thrown instanceof TooldexError && thrown.code === 'ILLEGAL_STEP') return readAgain(runs, caller, execution)
    throw thrown
  }
}

const reasons: Readonly<Record<StopReason, { readonly code: ErrorCode; readonly message: string }>> = {
  cancelled: { code: 'EXECUTION_CANCELLED', message: 'The run was cancelled.' },
  closing: { code: 'SHUTTING_DOWN', message: 'The server stopped while the call waited for a slot.' },
  lost: {
    code: 'CALLER_LOST',
    message: 'The process that received the call lost its connection to the database before the tool was started.',
  },
}

async function readAgain({ parts }: RecordedRuns, { workspace }: Caller, { id }: Execution): Promise<Execution> {
  const now = await parts.store.get(workspace, id)
  if (now !== undefined) return now
  throw new TooldexError('NOT_FOUND', `The execution ${id} no longer exists.`)
}
