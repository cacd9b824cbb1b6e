import type * as z from 'zod'
import type { Execution } from '../../contract/execution.ts'
import type { Operation, OperationContext } from '../operation.ts'
import type { CallAnswer } from '../runs/call-tool.ts'
import type { RunEvent } from '../runs/follow.ts'

/** Does operations for its caller: in this process, at a server, or where each of them belongs. */
export interface RegistryClient {
  invoke<Input extends z.ZodType, Output extends z.ZodType>(
    operation: Operation<Input, Output>,
    input: Record<string, unknown>,
    controls?: RequestControls,
  ): Promise<z.output<Output>>
  /** Runs a tool and reports what it prints while it runs; aborting cancels the run. */
  call(call: RecordedCall, controls: CallControls): Promise<CallAnswer>
  /** Follows a run until it has ended. */
  follow(id: string): AsyncIterable<RunEvent>
  close(): Promise<void>
}

/** How one request is ended early, and the trace that it belongs to. */
export interface RequestControls {
  readonly signal?: AbortSignal | undefined
  readonly trace?: OperationContext['trace']
}

/** A call of a tool, as `tools.call` takes it. */
export interface RecordedCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly version?: number | undefined
  readonly idempotencyKey?: string | undefined
  readonly timeoutMs?: number | undefined
  readonly dryRun?: boolean | undefined
}

/** How a call is followed. */
export interface CallControls extends RequestControls {
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void
  /** Receives the execution when it starts, or what it waits for if it does not start at once. */
  readonly onStatus: (execution: Execution) => void
  /** Receives how many bytes of output there are so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined
  /** Whether approval is waited for too. */
  readonly waitForApproval: boolean
  /** For how long a queued call may wait for a worker before it is STILL_QUEUED; for ever where absent. */
  readonly patienceMs?: number | undefined
}
