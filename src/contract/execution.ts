import * as z from 'zod'
import { asStored } from './as-stored.ts'
import type { RunnableTool } from './executor.ts'
import { Isolation, type RunOutcome, RunStatus, StoredResult } from './run.ts'
import type { Caller, Page, PageQuery } from './stores.ts'
import type { WorkerInfo, WorkerState } from './worker.ts'

/** Where a recorded run is in its life; the last four are final. */
export const ExecutionStatus = z.enum(['PENDING', 'RUNNING', ...RunStatus.options])
export type ExecutionStatus = z.infer<typeof ExecutionStatus>

/** Why a run has not been started: it waits for its turn, or for a person's yes. */
export const WaitReason = z.enum(['queued', 'approval'])
export type WaitReason = z.infer<typeof WaitReason>

/** One recorded run. */
export const Execution = z.object({
  id: z.guid(),
  /** Null for a tool of a config, or one that was deleted since. */
  toolId: z.guid().nullable(),
  toolName: z.string(),
  /** Null for a tool of a config. */
  version: z.int().nullable(),
  status: ExecutionStatus,
  /** Why it is still PENDING. */
  reason: asStored(WaitReason.nullable()),
  inputData: z.unknown(),
  /** What the tool returned; of a large one its beginning. */
  outputData: z.unknown(),
  /** Where the whole of a large output is. */
  result: StoredResult.nullable(),
  errorMessage: z.string().nullable(),
  errorCode: z.string().nullable(),
  exitCode: z.int().nullable(),
  logs: z.object({ stdout: z.string(), stderr: z.string() }),
  truncated: z.boolean(),
  isolation: asStored(Isolation.nullable()),
  /** The set of packages that it saw, and which state of it. */
  environment: z.string().nullable(),
  worker: z.string().nullable(),
  attempt: z.int(),
  timeoutMs: z.int().nullable(),
  idempotencyKey: z.string().nullable(),
  callerId: z.string().nullable().describe('The authenticated caller, such as key:ci.'),
  callerLabel: z.string().nullable().describe('The callerId of the request: a label the caller chose.'),
  traceId: z.string().nullable(),
  startedAt: z.iso.datetime().nullable(),
  completedAt: z.iso.datetime().nullable(),
  durationMs: z.int().nullable(),
  expiresAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type Execution = z.infer<typeof Execution>

/** A run in a list: without what may be long. */
export const ExecutionSummary = Execution.omit({ inputData: true, outputData: true, logs: true })
export type ExecutionSummary = z.infer<typeof ExecutionSummary>

/** One attempt at a run: whoever holds another one has lost it. */
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
  readonly traceId: string | null
  /** What whoever runs it is told of the trace, now or later. */
  readonly traceparent: string | null
  readonly idempotencyKey: string | null
  /** Tells whether another call under the same key is the same call. */
  readonly bodyHash: string | null
  /** How often it may be tried; more than once only where that does no harm. */
  readonly maxAttempts: number
  /** Only what has no version of its own to be read again. */
  readonly definition: unknown
  readonly purpose: string | null
}

/** How a new run begins: at once in this process, in the line of this process, in the queue, or with a person's yes. */
export type Beginning =
  | { readonly how: 'run' | 'wait-here'; readonly worker: string; readonly leaseMs: number }
  | { readonly how: 'queue'; readonly label: string; readonly withinMs: number; readonly limits: QueueLimits }
  | { readonly how: 'approval'; readonly label: string; readonly withinMs: number; readonly limits: QueueLimits }

/** How many may wait; more are refused. */
export interface QueueLimits {
  readonly all: number
  readonly perTool: number
  readonly perCaller: number
}

/** A run that was taken from the queue, with the tool as it is to be run; undefined where that is gone or not to be run. */
export interface ClaimedExecution {
  readonly execution: Execution
  readonly workspace: string
  readonly traceparent: string | null
  readonly tool: RunnableTool | undefined
  /** Why there is no tool. */
  readonly refusal: { readonly code: string; readonly message: string } | undefined
}

/** What is written when a run ends. */
export interface FinishedRun {
  readonly outcome: RunOutcome
  readonly outputData: unknown
  readonly logs: { readonly stdout: string; readonly stderr: string }
  readonly stored: NewStoredResult | null
  /** Whether what it printed was told while it ran. */
  readonly told: boolean
}

/** When a run ended, by the clock of the database. */
export interface Ended {
  readonly completedAt: string
  readonly durationMs: number
  readonly stored: StoredResult | null
}

/** A large output to be kept aside. */
export interface NewStoredResult {
  readonly handle: string
  readonly mediaType: string
  readonly content: string
  readonly lifeMs: number
}

/** What a large output is read from. */
export interface ResultContent {
  readonly mediaType: string
  readonly content: string
}

/** By what runs are listed; the id decides between equals. */
export const executionSorts = ['createdAt', '-createdAt'] as const
type ExecutionSort = (typeof executionSorts)[number]

/** Which runs are listed. */
export interface ExecutionQuery extends PageQuery {
  /** Newest first, where nothing else is said. */
  readonly sort?: ExecutionSort | undefined
  readonly toolId?: string | undefined
  readonly tool?: string | undefined
  /** No run of a tool of another name. */
  readonly names?: ReadonlySet<string> | undefined
  /** Calls, where nothing else is said; replays are listed apart. */
  readonly purpose?: 'call' | 'replay' | undefined
  readonly status?: readonly ExecutionStatus[] | undefined
  readonly caller?: string | undefined
  readonly callerLabel?: string | undefined
  readonly trace?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** Numbers of events go on growing over attempts, so that whoever follows a run misses nothing: so many are of each. */
export const attemptNumbers = 1_000_000

/** What a run tells while it runs. */
export interface ExecutionEvent {
  readonly seq: number
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** A run that was ended by somebody who did not run it: refused, cancelled or expired before it began, or lost. */
export interface UnattendedEnd extends Pick<Execution, 'toolName' | 'status' | 'errorCode'> {
  readonly workspace: string
}

/** What sweeping did. */
export interface Swept {
  readonly lost: readonly string[]
  readonly retried: readonly string[]
  readonly expired: readonly string[]
}

/** How long finished runs are kept, and how many. */
export interface Retention {
  readonly days: number
  readonly most: number
  /** For how long what a run told while it ran is kept after its end; a minute where absent. */
  readonly eventsMs?: number | undefined
}

/** A notice between processes about one run. */
export interface RunNotice {
  readonly kind: 'queued' | 'cancel' | 'changed'
  readonly id: string
}

/** What waits and what runs, now. */
export interface QueueState {
  readonly queued: number
  readonly waitingForApproval: number
  readonly running: number
  readonly oldestQueuedMs: number | null
  readonly workers: readonly WorkerState[]
}

/** The process that sweeps, and the runs that it makes. */
export interface SweepingWorker {
  readonly worker: string
  readonly held: readonly string[]
}

/** An approval or a refusal. */
export interface ApprovalDecision {
  readonly approve: boolean
  readonly note?: string | undefined
  readonly queueMs: number
}

/** How a run goes back to the queue. */
export interface GiveBackOptions {
  readonly label: string
  /** How long it may wait for the next worker. */
  readonly withinMs: number
  /** Whether the attempt counts: one that a stopping process broke off does not. */
  readonly counts: boolean
  /** The tool itself, where no version keeps it. */
  readonly definition: unknown
}

/** Recorded runs. The database's clock is the only one that counts. */
export interface ExecutionStore {
  /** Whether other processes may take runs: those of an embedded database are all of one process. */
  readonly shared: boolean
  /** Writes a new run down; where its key is known already, gives the run that has it. */
  create(caller: Caller, draft: NewExecution, begin: Beginning): Promise<{ execution: Execution; fresh: boolean }>
  /** Starts a run that waited in this process; false where it was ended meanwhile. */
  start(attempt: Attempt, worker: string, leaseMs: number): Promise<boolean>
  /** Takes up to `limit` runs from the queue. */
  claim(
    worker: string,
    options: { readonly limit: number; readonly labels: readonly string[]; readonly leaseMs: number },
  ): Promise<readonly ClaimedExecution[]>
  /** Renews the lease of a worker, which is that of all its runs; touches no row of a run, so that no lock on those holds it up. */
  renewLease(worker: WorkerInfo, leaseMs: number): Promise<void>
  /** Takes a worker that has ended off the list. */
  removeWorker(worker: string): Promise<void>
  /** Returns which attempts do not belong to the worker any more, and which are to be cancelled. */
  checkAttempts(
    worker: string,
    attempts: readonly Attempt[],
  ): Promise<{ readonly lost: readonly string[]; readonly cancel: readonly string[] }>
  /** Returns an attempt to the queue where its tool may run again; false where it may not, or is not the present one. */
  giveBack(attempt: Attempt, options: GiveBackOptions): Promise<boolean>
  /** The one final write of an attempt; undefined where the attempt is not the present one any more. */
  finish(attempt: Attempt, run: FinishedRun): Promise<Ended | undefined>
  /** Ends what has not started; asks for the end of what runs. */
  cancel(caller: Caller, id: string, why: { readonly code: string; readonly message: string }): Promise<Execution>
  /** Approves or refuses a call; one that is approved then waits in the queue for at most `queueMs`. */
  decide(caller: Caller, id: string, decision: ApprovalDecision): Promise<Execution>
  get(workspace: string, id: string): Promise<Execution | undefined>
  list(workspace: string, query: ExecutionQuery): Promise<Page<ExecutionSummary>>
  /** The newest successful runs of a version, each input once. */
  samples(workspace: string, toolId: string, version: number, limit: number): Promise<readonly Execution[]>
  /** The whole of an output that was kept aside, to be compared with another. */
  wholeOutput(workspace: string, executionId: string): Promise<ResultContent | undefined>
  append(attempt: Attempt, events: readonly ExecutionEvent[]): Promise<void>
  events(id: string, after: number): Promise<readonly ExecutionEvent[]>
  /** Reads a kept output; only whoever called gets it. */
  result(caller: Caller, handle: string): Promise<ResultContent | undefined>
  /** Ends or retries the runs of workers whose lease ended, and those of the sweeping process that it does not run; ends what waited too long. */
  sweep(self?: SweepingWorker): Promise<Swept>
  /** Deletes a bounded number of what is older or more than is kept; gives how many there were. */
  prune(retention: Retention): Promise<number>
  queue(workspace: string): Promise<QueueState>
  /** Tells of each run that this very store ended without its having been run to its end, once. */
  onUnattendedEnd(listener: (end: UnattendedEnd) => void): void
  listen(onNotice: (notice: RunNotice) => void): Promise<() => Promise<void>>
}
