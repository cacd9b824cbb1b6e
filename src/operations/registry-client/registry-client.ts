import type * as z from 'zod'
import type { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { Execution } from '../../contract/execution.ts'
import type { CallerInput, RunControls } from '../../contract/executor.ts'
import { invoke } from '../invoke.ts'
import type { Operation, OperationContext, PartialContext } from '../operation.ts'
import type { CallAnswer } from '../runs/call-tool.ts'
import type { RunEvent } from '../runs/follow.ts'

/** Runs operations for its caller: in this process, on a server, or on both combined. */
export interface RegistryClient {
  invoke<Input extends z.ZodType, Output extends z.ZodType>(
    operation: Operation<Input, Output>,
    input: Record<string, unknown>,
    controls?: RequestControls,
  ): Promise<z.output<Output>>
  /** Runs a tool and reports its output while it runs; aborting cancels the run. */
  call(call: RecordedCall, controls: CallControls): Promise<CallAnswer>
  /** Follows a run until it has ended. */
  follow(id: string): AsyncIterable<RunEvent>
  close(): Promise<void>
}

/** The abort signal and the trace of one request. */
export interface RequestControls {
  readonly signal?: AbortSignal | undefined
  readonly trace?: OperationContext['trace']
  /** The input that the caller can provide to an upstream, where the request is handled in this process. */
  readonly callerInput?: CallerInput | undefined
}

/** A call of a tool, with the input of `tools.call`. */
export interface RecordedCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly version?: number | undefined
  readonly idempotencyKey?: string | undefined
  readonly timeoutMs?: number | undefined
  readonly dryRun?: boolean | undefined
}

/** The callbacks and limits of a followed call. */
export interface CallControls extends RequestControls {
  readonly onOutput: NonNullable<RunControls['onOutput']>
  /** Receives the execution when it starts, or when it has to wait. */
  readonly onStatus: (execution: Execution) => void
  /** Receives the number of output bytes so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined
  /** Called when a server rejects the call for now, with the time until the next attempt. */
  readonly onPause?: ((error: TooldexError, ms: number) => void) | undefined
  /** Whether to wait for approval, too. */
  readonly waitForApproval: boolean
  /** The time after which a call that still runs is answered with its execution id; it goes on. Unlimited if absent. */
  readonly respondMs?: number | undefined
  /** The time a queued call may wait for a worker before it fails with STILL_QUEUED; unlimited if absent. */
  readonly patienceMs?: number | undefined
}

const loadCallTool = lazyModule(() => import('../runs/call-tool.ts'))
const loadExecutionResult = lazyModule(() => import('../runs/execution-result.ts'))
const loadFollow = lazyModule(() => import('../runs/follow.ts'))

/** Runs operations in this process. */
export function createLocalClient(context: PartialContext): RegistryClient {
  return {
    invoke: (operation, input, { signal = context.signal, trace = context.trace, callerInput } = {}) =>
      invoke(operation, input, { ...context, signal, trace, callerInput }),
    call: (call, controls) => callLocal(context, call, controls),
    follow: (id) => followLocal(context, id),
    close: async () => {},
  }
}

async function callLocal(context: PartialContext, call: RecordedCall, controls: CallControls): Promise<CallAnswer> {
  const { onOutput, onProgress, respondMs, callerInput, signal = context.signal, trace = context.trace } = controls
  const { callTool } = await loadCallTool()
  const own = { onOutput, onProgress, respondMs, callerInput, signal, trace }
  const response = await invoke(callTool, call, { ...context, ...own })
  if (!('waitsFor' in response) || response.waitsFor !== 'approval' || !controls.waitForApproval) return response
  const { answerOfExecution } = await loadExecutionResult()
  const { executionId, waitsFor: _what, expiresAt: _when, ...rest } = response
  for await (const event of followLocal({ ...context, signal }, executionId)) {
    if (event.event === 'end') return { ...rest, ...answerOfExecution(event.execution) }
    if (event.event === 'output') onOutput(event.stream, event.text)
    else controls.onStatus(event.execution)
  }
  return response
}

async function* followLocal(context: PartialContext, id: string): AsyncGenerator<RunEvent> {
  const { followExecution } = await loadFollow()
  const signal = context.signal ?? new AbortController().signal
  for await (const event of followExecution(context, id, 0, signal)) if (event !== undefined) yield event
}
