import { type ErrorCode, TooldexError, toTooldexError } from '../base/errors.ts'
import { reachPoint } from '../base/fault-points.ts'
import type { Execution, NewExecution } from '../contract/execution.ts'
import type { Job, RunControls } from '../contract/executor.ts'
import { isFinal } from '../contract/is-final.ts'
import type { Caller } from '../contract/stores.ts'
import type { StopReason } from './heartbeat.ts'
import { performRecorded } from './perform-recorded.ts'
import type { RecordedRuns } from './recorded-runs.ts'
import { SlotTicket } from './slot-ticket.ts'

/** A call that the process that was called makes itself. */
export interface InlineCall {
  readonly caller: Caller
  readonly job: Job
  readonly draft: NewExecution
  readonly controls: RunControls & { readonly recheck?: (() => Promise<void>) | undefined }
}

/** How it went; where it has not ended, it goes on elsewhere. */
export interface InlineRun {
  readonly execution: Execution
  /** Another call has the same key; this one only looks on. */
  readonly joined: boolean
}

/** Makes a call in this process: at once where a slot is free, otherwise when its turn comes. */
export async function runInline(runs: RecordedRuns, call: InlineCall): Promise<InlineRun> {
  const { runner, store, settings, info } = runs.parts
  const { caller, job, draft, controls } = call
  const { workspace } = caller
  const place = new SlotTicket(runner.slots, { signal: controls.signal, caller: `${workspace} ${draft.callerId}` })
  try {
    // Where the line is full nothing is written down.
    await place.checkRoom()
    const begunAt = performance.now()
    const how = place.waits ? 'wait-here' : 'run'
    const { execution, fresh } = await store.create(caller, draft, {
      how,
      worker: info.worker,
      leaseMs: settings.leaseMs,
    })
    reachPoint('F1 row inserted')
    if (!fresh) return { execution, joined: true }
    const begun = place.waits
      ? await waitForTurn(runs, call, { execution, begunAt, place })
      : { workspace, execution, begunAt }
    const ended = isFinal(begun.execution.status) ? begun.execution : await performRecorded(runs, begun, job, controls)
    return { execution: ended, joined: false }
  } finally {
    place.leave()
  }
}

interface Waiting {
  readonly execution: Execution
  readonly begunAt: number
  readonly place: SlotTicket
}

/** A run that waits for its turn here is written down already; whoever leaves the line cancels it. */
async function waitForTurn(runs: RecordedRuns, call: InlineCall, { execution, begunAt, place }: Waiting) {
  const { store, settings, info } = runs.parts
  const { workspace } = call.caller
  let why = undefined as StopReason | undefined
  const held = {
    id: execution.id,
    attempt: 0,
    begunAt,
    toolName: execution.toolName,
    stop(reason: StopReason) {
      why ??= reason
      place.leave()
    },
  }
  runs.heartbeat.hold(held)
  try {
    await place.turn
    if (why !== undefined) throw new TooldexError('EXECUTION_CANCELLED', reasons[why].message)
    await call.controls.recheck?.()
  } catch (thrown) {
    const told = why === undefined ? toTooldexError(thrown) : reasons[why]
    return { workspace, execution: await endWaiting(runs, call, execution, told), begunAt }
  } finally {
    runs.heartbeat.release(held)
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

/** Either somebody ended it, or whoever waited has gone, or this process stops. */
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
  closing: { code: 'SHUTTING_DOWN', message: 'The server stopped before it was the turn of the call.' },
  lost: { code: 'CALLER_LOST', message: 'The process that was called lost touch before the tool was started.' },
}

async function readAgain({ parts }: RecordedRuns, { workspace }: Caller, { id }: Execution): Promise<Execution> {
  const now = await parts.store.get(workspace, id)
  if (now !== undefined) return now
  throw new TooldexError('NOT_FOUND', `The execution ${id} is gone.`)
}
