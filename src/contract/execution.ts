import * as z from 'zod'
import { asStored } from './as-stored.ts'
import type { RunnableTool } from './executor.ts'
import type { SweepingWorker, WorkerInfo, WorkerState } from './run.ts'
import { Isolation, RunOutcome, RunStatus, StoredResult } from './run.ts'
import type { PastCallStore } from './run-history.ts'
import type { Caller, Page, PageQuery } from './stores.ts'

/** The status of a recorded run; the last four are final. */
export const ExecutionStatus = z.enum(['PENDING', 'RUNNING', ...RunStatus.options])
export type ExecutionStatus = z.infer<typeof ExecutionStatus>

/** The reason why a run is PENDING: it waits in the queue, or for approval. */
export const WaitReason = z.enum(['queued', 'approval'])

/** One recorded run. */
export const Execution = z.object({
  id: z.guid(),
  /** Null for a tool of a config and for a deleted tool. */
  toolId: z.guid().nullable(),
  toolName: z.string(),
  /** Null for a tool of a config. */
  version: z.int().nullable(),
  status: ExecutionStatus,
  /** Null unless PENDING. */
  reason: asStored(WaitReason.nullable()),
  inputData: z.unknown(),
  /** The output of the tool; a preview where it is large. */
  outputData: z.unknown(),
  /** The handle of the complete output, where it is large. */
  result: StoredResult.nullable(),
  errorMessage: z.string().nullable(),
  errorCode: z.string().nullable(),
  exitCode: z.int().nullable(),
  logs: z.object({ stdout: z.string(), stderr: z.string() }),
  truncated: z.boolean(),
  suspicious: RunOutcome.shape.suspicious,
  isolation: asStored(Isolation.nullable()),
  /** The Python environment and its state. */
  environment: z.string().nullable(),
  worker: z.string().nullable(),
  attempt: z.int(),
  timeoutMs: z.int().nullable(),
  idempotencyKey: z.string().nullable(),
  callerId: z.string().nullable().describe('The authenticated caller, such as key:ci.'),
  callerLabel: z.string().nullable().describe('The callerId of the request: a label the caller chose.'),
  toolsets: z.array(z.string()).optional().describe('The toolsets that the call was restricted to, if any.'),
  traceId: z.string().nullable(),
  parentId: z.guid().nullable().describe('The execution of the program that made the call.'),
  startedAt: z.iso.datetime().nullable(),
  completedAt: z.iso.datetime().nullable(),
  durationMs: z.int().nullable(),
  expiresAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type Execution = z.infer<typeof Execution>

/** A run in a list, without its potentially large fields. */
export const ExecutionSummary = Execution.omit({ inputData: true, outputData: true, logs: true })
export type ExecutionSummary = z.infer<typeof ExecutionSummary>

/** One attempt of a run; only the holder of the current attempt may write. */
export interface Attempt {
  readonly id: string
  readonly attempt: number
}

/** A run to be recorded. */
export interface NewExecution {
  readonly id: string
  readonly toolId: string | null
  readonly toolName: string
  readonly version: number | null
  readonly inputData: unknown
  readonly timeoutMs: number
  readonly callerId: string | null
  readonly callerLabel: string | null
  /** The groups of the caller. */
  readonly callerGroups?: readonly string[] | undefined
  /** The toolsets that restricted the call. */
  readonly toolsets?: readonly string[] | undefined
  /** The limits that the call counts toward, as pairs of limit and subject. */
  readonly limits?: readonly (readonly [limit: string, subject: string])[] | undefined
  readonly traceId: string | null
  /** The trace context for the process that runs it. */
  readonly traceparent: string | null
  readonly idempotencyKey: string | null
  /** Identifies repetitions of the call under the same idempotency key. */
  readonly bodyHash: string | null
  /** More than 1 only for tools that may run again without harm. */
  readonly maxAttempts: number
  /** The tool itself, only where no stored version contains it. */
  readonly definition: unknown
  readonly purpose: string | null
  readonly parentId: string | null
}

/** The start of a new run: at once in this process, after waiting for a slot of this process, from the queue, or after approval. */
export type Beginning =
  | {
      readonly how: 'run' | 'wait-here'
      readonly worker: string
      readonly leaseMs: number
      /** Whether the run may start before the database has written the row to disk. */
      readonly unflushed?: boolean
    }
  | { readonly how: 'queue'; readonly label: string; readonly withinMs: number; readonly limits: QueueLimits }
  | { readonly how: 'approval'; readonly label: string; readonly withinMs: number; readonly limits: QueueLimits }

/** The maximum numbers of waiting runs; further ones are rejected. */
export interface QueueLimits {
  readonly all: number
  readonly perTool: number
  readonly perCaller: number
}

/** A run that was taken from the queue, with its tool; undefined where the tool was deleted or must not run. */
export interface ClaimedExecution {
  readonly execution: Execution
  readonly workspace: string
  readonly traceparent: string | null
  readonly tool: RunnableTool | undefined
  /** Whether the run counts toward limits. */
  readonly isLimited: boolean
  /** The reason for a missing tool. */
  readonly refusal: { readonly code: string; readonly message: string } | undefined
}

/** The data of the final write of a run. */
export interface FinishedRun {
  readonly outcome: RunOutcome
  readonly outputData: unknown
  readonly logs: { readonly stdout: string; readonly stderr: string }
  readonly stored: NewStoredResult | null
  /** Whether output was published during the run. */
  readonly published: boolean
  /** The measured cost, where the run counts toward limits. */
  readonly cost?: { readonly bytes: number; readonly tokens: number } | undefined
}

/** The end of a run by the clock of the database. */
export interface Ended {
  readonly completedAt: string
  readonly durationMs: number
  readonly stored: StoredResult | null
}

/** A large output to be stored under a handle. */
export interface NewStoredResult {
  readonly handle: string
  readonly mediaType: string
  readonly content: string
  readonly lifeMs: number
  readonly suspicious?: readonly string[] | undefined
}

/** The content of a stored output. */
export interface ResultContent {
  readonly mediaType: string
  readonly content: string
  readonly suspicious?: readonly string[] | undefined
}

/** The sort orders of runs, by default newest first; ties are broken by id. */
export const executionSorts = ['createdAt', '-createdAt'] as const

/** The filters of a list of runs. */
export interface ExecutionQuery extends PageQuery {
  readonly sort?: (typeof executionSorts)[number] | undefined
  readonly toolId?: string | undefined
  readonly tool?: string | undefined
  /** Only runs of tools with these names. */
  readonly names?: ReadonlySet<string> | undefined
  /** Calls if absent. */
  readonly purpose?: 'call' | 'replay' | undefined
  readonly status?: readonly ExecutionStatus[] | undefined
  readonly caller?: string | undefined
  readonly callerLabel?: string | undefined
  readonly trace?: string | undefined
  readonly parent?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** The size of the range of event numbers of each attempt: numbers grow over attempts, so that followers miss no event. */
export const attemptNumbers = 1_000_000

/** A piece of output that is published during a run. */
export interface ExecutionEvent {
  readonly seq: number
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** A run that was not ended by its own process: rejected, cancelled or expired before its start, or lost. */
export interface UnattendedEnd extends Pick<Execution, 'toolName' | 'status' | 'errorCode'> {
  readonly workspace: string
}

/** The result of one sweep, as ids of runs. */
export interface Swept {
  readonly lost: readonly string[]
  readonly retried: readonly string[]
  readonly expired: readonly string[]
}

/** The maximum age and number of finished runs. */
export interface Retention {
  readonly days: number
  readonly maxRows: number
  /** For how long published output is kept after the end of its run; default: one minute. */
  readonly eventsMs?: number | undefined
}

/** A notice between processes about one run. */
export interface RunNotice {
  readonly kind: 'queued' | 'cancel' | 'changed'
  readonly id: string
}

/** The current numbers of waiting and running executions. */
export interface QueueState {
  readonly queued: number
  readonly waitingForApproval: number
  readonly running: number
  readonly oldestQueuedMs: number | null
  readonly workers: readonly WorkerState[]
}

/** The decision on a call that waits for approval. */
export interface ApprovalDecision {
  readonly approve: boolean
  readonly note?: string | undefined
  readonly queueMs: number
}

/** The terms of returning a run to the queue. */
export interface GiveBackOptions {
  readonly label: string
  /** The maximum wait for the next worker. */
  readonly withinMs: number
  /** Whether the attempt counts: one that a stopping process interrupted does not. */
  readonly counts: boolean
  /** The tool itself, only where no stored version contains it. */
  readonly definition: unknown
}

/** Recorded runs. All times are those of the database clock. */
export interface ExecutionStore extends PastCallStore {
  /** Whether other processes may take runs; false for an embedded database, which only one process opens. */
  readonly shared: boolean
  /** Records a new run, or returns the existing run with the same idempotency key. */
  create(caller: Caller, draft: NewExecution, begin: Beginning): Promise<{ execution: Execution; fresh: boolean }>
  /** Starts a run that waited in this process; false where it has ended meanwhile. */
  start(attempt: Attempt, worker: string, leaseMs: number): Promise<boolean>
  /** Takes up to `limit` runs from the queue. */
  claim(
    worker: string,
    options: { readonly limit: number; readonly labels: readonly string[]; readonly leaseMs: number },
  ): Promise<readonly ClaimedExecution[]>
  /** Renews the lease of a worker and thereby of all its runs; touches no row of a run, so that locks on those cannot delay it. */
  renewLease(worker: WorkerInfo, leaseMs: number): Promise<void>
  /** Removes a stopped worker from the list. */
  removeWorker(worker: string): Promise<void>
  /** Returns the ids of attempts that no longer belong to the worker, and of those to cancel. */
  checkAttempts(
    worker: string,
    attempts: readonly Attempt[],
  ): Promise<{ readonly lost: readonly string[]; readonly cancel: readonly string[] }>
  /** Returns an attempt to the queue where its tool may run again; false where it may not, or the attempt is not current. */
  giveBack(attempt: Attempt, options: GiveBackOptions): Promise<boolean>
  /** The single final write of an attempt; undefined where the attempt is no longer current. */
  finish(attempt: Attempt, run: FinishedRun): Promise<Ended | undefined>
  /** Ends a run that has not started; requests cancellation of a started one. */
  cancel(caller: Caller, id: string, why: { readonly code: string; readonly message: string }): Promise<Execution>
  /** Approves or rejects a call; an approved one then waits in the queue for at most `queueMs`. */
  decide(caller: Caller, id: string, decision: ApprovalDecision): Promise<Execution>
  get(workspace: string, id: string): Promise<Execution | undefined>
  list(workspace: string, query: ExecutionQuery): Promise<Page<ExecutionSummary>>
  /** The newest successful runs of a version, without repeated inputs. */
  samples(workspace: string, toolId: string, version: number, limit: number): Promise<readonly Execution[]>
  /** The complete stored output of a run, for comparison with another. */
  wholeOutput(workspace: string, executionId: string): Promise<ResultContent | undefined>
  append(attempt: Attempt, events: readonly ExecutionEvent[]): Promise<void>
  events(id: string, after: number): Promise<readonly ExecutionEvent[]>
  /** Reads a stored output; only the caller of the run has access. */
  result(caller: Caller, handle: string): Promise<ResultContent | undefined>
  /** Ends or retries the runs of workers whose lease expired, and runs of the sweeping process that it does not hold; expires waiting runs. */
  sweep(self?: SweepingWorker): Promise<Swept>
  /** Deletes a bounded number of runs beyond the retention limits; returns the number of deleted runs. */
  prune(retention: Retention): Promise<number>
  queue(workspace: string): Promise<QueueState>
  /** Reports each unattended end that this store wrote, once. */
  onUnattendedEnd(listener: (end: UnattendedEnd) => void): void
  listen(onNotice: (notice: RunNotice) => void): Promise<() => Promise<void>>
}
