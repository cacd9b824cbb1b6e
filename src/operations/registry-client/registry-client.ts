import type * as z from 'zod'
import type { Execution } from '../../contract/execution.ts'
import type { Operation, OperationContext } from '../operation.ts'
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
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void
  /** Receives the execution when it starts, or when it has to wait. */
  readonly onStatus: (execution: Execution) => void
  /** Receives the number of output bytes so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined
  /** Whether to wait for approval, too. */
  readonly waitForApproval: boolean
  /** The time after which a call that still runs is answered with its execution id; it goes on. Unlimited if absent. */
  readonly respondMs?: number | undefined
  /** The time a queued call may wait for a worker before it fails with STILL_QUEUED; unlimited if absent. */
  readonly patienceMs?: number | undefined
}
