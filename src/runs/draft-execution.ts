import { randomUUID } from 'node:crypto'
import { hashJson } from '../base/json-text.ts'
import type { Execution, NewExecution } from '../contract/execution.ts'
import type { RunControls, RunnableTool } from '../contract/executor.ts'
import type { Caller } from '../contract/stores.ts'
import type { PreparedCall } from './create-runner.ts'

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
  /** The limits that the call counts toward. */
  readonly limits?: CallLimits | undefined
  /** The execution of the program that makes the call. */
  readonly parentId?: string | undefined
  /** Receives the recorded call before it runs. */
  readonly onRecorded?: ((execution: Execution) => void) | undefined
}

/** The counting of one call toward limits. */
export interface CallLimits {
  /** Pairs of limit and subject, stored with the run. */
  readonly keys: readonly (readonly [limit: string, subject: string])[]
  /** Counts the call; throws where a limit is reached. */
  take(): Promise<void>
  /** Takes back the count of a call that is not run. */
  giveBack(): Promise<void>
}

/** A validated call that is to be recorded. */
export interface ValidatedCall {
  readonly caller: Caller
  readonly job: PreparedCall
  readonly options: ExecuteOptions
}

/** The limits of a run, and whether another process may run it. */
interface DraftOptions {
  readonly timeoutMs: number
  /** The maximum number of attempts of a run that may be repeated. */
  readonly attempts: number
  readonly elsewhere: boolean
}

/** The row of a call before its run. */
export function draftExecution(
  { caller, job: { tool, input }, options }: ValidatedCall,
  { timeoutMs, attempts, elsewhere }: DraftOptions,
): NewExecution {
  const { readOnlyHint, idempotentHint } = tool.annotations
  const { parentId } = options
  return {
    id: randomUUID(),
    toolId: tool.id,
    toolName: tool.name,
    version: tool.version,
    inputData: input,
    timeoutMs,
    callerId: caller.actor,
    callerLabel: options.callerLabel ?? null,
    callerGroups: caller.groups,
    toolsets: caller.toolsets,
    limits: options.limits?.keys,
    traceId: options.traceId ?? null,
    traceparent: options.traceparent ?? null,
    idempotencyKey: options.idempotencyKey ?? null,
    bodyHash: options.idempotencyKey === undefined ? null : hashCall(tool, input),
    // A call of a program whose process was lost has nobody to return to.
    maxAttempts: parentId === undefined && (readOnlyHint === true || idempotentHint === true) ? attempts : 1,
    // A version can be read again; a tool of a config must be stored with the run where another process may run it.
    definition: tool.id === null && elsewhere ? tool : null,
    purpose: options.purpose ?? null,
    parentId: parentId ?? null,
  }
}

/** Identifies a call under an idempotency key: the tool, its version and the arguments in any order. */
const hashCall = ({ name, version }: RunnableTool, input: unknown): string => hashJson([name, version, input])

/** The worker label of a tool; empty where any worker may run it. */
export const labelOf = ({ executorConfig }: RunnableTool): string =>
  typeof executorConfig.worker === 'string' ? executorConfig.worker : ''
