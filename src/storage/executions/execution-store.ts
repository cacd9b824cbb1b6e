import { and, asc, eq, gt, type SQL, sql } from 'drizzle-orm'
import type {
  ApprovalDecision,
  Attempt,
  Beginning,
  Execution,
  ExecutionEvent,
  ExecutionQuery,
  ExecutionStore,
  FinishedRun,
  GiveBackOptions,
  NewExecution,
  Retention,
  UnattendedEnd,
} from '../../contract/execution.ts'
import type { SweepingWorker, WorkerInfo } from '../../contract/run.ts'
import type { PastCallQuery } from '../../contract/run-history.ts'
import type { Caller } from '../../contract/stores.ts'
import { isFinal } from '../../rules/is-final.ts'
import type { Database, Db } from '../database.ts'
import { isOfContent } from '../failures.ts'
import { guard } from '../guard.ts'
import type { Cursors } from '../page.ts'
import { isUuid } from '../rows.ts'
import { executionEvents, executionResults, toolExecutions } from '../schema-runs.ts'
import { StatementBatcher } from '../statement-batcher.ts'
import { claimExecutions } from './claim.ts'
import {
  type AttemptStart,
  createExecution,
  createInlineExecutions,
  findExistingExecution,
  type InlineDraft,
  startExecutions,
} from './create.ts'
import { cancelRun, decideRun, decideRunApproval } from './decide-approval.ts'
import { type AttemptEnd, checkAttempts, finishExecutions, requeueAttempt, type WrittenEnd } from './finish.ts'
import { readSamples, selectExecutions } from './list.ts'
import { RunNotifier, readNotice, runChannel } from './notices.ts'
import { readPastCalls, readPastInputs } from './past-calls.ts'
import { QueueRoom } from './queue-room.ts'
import { toExecution, toFreshExecution } from './rows.ts'
import { pruneExecutions, sweepExecutions } from './sweep.ts'
import { removeWorker, renewLease, selectQueueState } from './workers.ts'

const runs = toolExecutions
// The embedded engine runs one statement at a time; on a server a blocked statement must not delay all others.
/** The maximum number of characters of one statement, because outputs and arguments may be large. */
const maxWeight = 1024 * 1024
const atOnce = { pglite: 1, postgres: 3 } as const

/** Recorded runs in the database. */
export class DatabaseExecutionStore implements ExecutionStore {
  readonly shared: boolean
  readonly #db: Db
  readonly #heartbeat: Db
  readonly #listen: Database['listen']
  readonly #cursors: () => Promise<Cursors>
  readonly #notifier: RunNotifier
  readonly #rooms = { queue: new QueueRoom(), approval: new QueueRoom() }
  readonly #listeners: ((end: UnattendedEnd) => void)[] = []
  /** Under load one statement writes many runs. */
  readonly #inlineRuns: StatementBatcher<InlineDraft, number | undefined>
  readonly #starts: StatementBatcher<AttemptStart, boolean>
  readonly #ends: StatementBatcher<AttemptEnd, WrittenEnd | undefined>

  constructor(
    db: Db,
    { listen, engine, heartbeat }: Pick<Database, 'listen' | 'engine' | 'heartbeat'>,
    cursors: () => Promise<Cursors>,
  ) {
    this.#db = db
    this.#heartbeat = heartbeat
    this.shared = engine === 'postgres'
    this.#listen = listen
    this.#cursors = cursors
    this.#notifier = new RunNotifier(db)
    const limits = { atOnce: atOnce[engine], maxItems: 50, maxWeight, isRetriable: isOfContent }
    this.#inlineRuns = new StatementBatcher((drafts) => createInlineExecutions(db, drafts, this.shared), limits)
    this.#starts = new StatementBatcher((starts) => startExecutions(db, starts), limits)
    this.#ends = new StatementBatcher((ends) => finishExecutions(db, ends), limits)
  }

  create(caller: Caller, draft: NewExecution, begin: Beginning) {
    return guard(async () => {
      if (!('withinMs' in begin)) return this.#createInline(caller, draft, begin)
      const created = await createExecution(this.#db, this.#rooms, caller, draft, begin)
      if (created.fresh && begin.how === 'queue') this.#notifier.send({ kind: 'queued', id: draft.id })
      return created
    })
  }

  async #createInline({ workspace }: Caller, draft: NewExecution, begin: InlineDraft['begin']) {
    const created = await this.#inlineRuns.do({ workspace, draft, begin }, JSON.stringify(draft.inputData).length)
    if (created === undefined)
      return { execution: await findExistingExecution(this.#db, workspace, draft), fresh: false }
    return { execution: toFreshExecution(draft, begin, created), fresh: true }
  }

  start(attempt: Attempt, worker: string, leaseMs: number) {
    return guard(() => this.#starts.do({ attempt, worker, leaseMs }))
  }

  claim(worker: string, options: { limit: number; labels: readonly string[]; leaseMs: number }) {
    return guard(() => claimExecutions(this.#db, worker, options))
  }

  renewLease(worker: WorkerInfo, leaseMs: number) {
    return guard(() => renewLease(this.#heartbeat, worker, leaseMs), { attempts: 1 })
  }

  removeWorker(worker: string) {
    return guard(() => removeWorker(this.#db, worker))
  }

  checkAttempts(worker: string, attempts: readonly Attempt[]) {
    return guard(() => checkAttempts(this.#db, worker, attempts))
  }

  giveBack(attempt: Attempt, options: GiveBackOptions) {
    return guard(async () => {
      const isBack = await requeueAttempt(this.#db, attempt, options)
      if (isBack) this.#notifier.send({ kind: 'queued', id: attempt.id })
      return isBack
    })
  }

  finish(attempt: Attempt, run: FinishedRun) {
    return guard(async () => {
      // A stored output is large, so it gets its own statement.
      const [written] =
        run.stored === null
          ? [await this.#ends.do({ attempt, run }, weightOf(run))]
          : await finishExecutions(this.#db, [{ attempt, run }])
      if (written?.awaited) this.#notifier.send({ kind: 'changed', id: attempt.id })
      return written?.ended
    })
  }

  async cancel(caller: Caller, id: string, why: { code: string; message: string }) {
    const action = 'execution.cancel'
    return this.#reported(
      caller,
      await decideRunApproval(this.#db, caller, id, { action }, (db, old) => cancelRun(db, old, why)),
    )
  }

  async decide(caller: Caller, id: string, { approve, note, queueMs }: ApprovalDecision) {
    const action = approve ? 'execution.approve' : 'execution.refuse'
    const decided = await decideRunApproval(this.#db, caller, id, { action, note }, (db, before) =>
      decideRun(db, before, { approve, note, queueMs, by: caller }),
    )
    return this.#reported(caller, decided)
  }

  #reported({ workspace }: Caller, { execution, changed }: { execution: Execution; changed: boolean }): Execution {
    if (changed && isFinal(execution.status)) this.#report([{ ...execution, workspace }])
    return execution
  }

  onUnattendedEnd(listener: (end: UnattendedEnd) => void) {
    this.#listeners.push(listener)
  }

  #report(ends: readonly UnattendedEnd[]): void {
    for (const end of ends) for (const listener of this.#listeners) listener(end)
  }

  get(workspace: string, id: string) {
    return guard(async () => {
      if (!isUuid(id)) return undefined
      const [row] = await this.#db
        .select({ run: runs, result: aboutResult })
        .from(runs)
        .leftJoin(executionResults, eq(executionResults.executionId, runs.id))
        .where(and(eq(runs.id, id), eq(runs.workspaceId, workspace)))
      return row === undefined ? undefined : toExecution(row.run, row.result)
    })
  }

  list(workspace: string, query: ExecutionQuery) {
    return guard(async () => selectExecutions(this.#db, await this.#cursors(), workspace, query))
  }

  pastCalls(workspace: string, query: PastCallQuery) {
    return readPastCalls(this.#db, workspace, query)
  }

  inputs(workspace: string, ids: readonly string[]) {
    return readPastInputs(this.#db, workspace, ids)
  }

  samples(workspace: string, toolId: string, version: number, limit: number) {
    return guard(() => readSamples(this.#db, { workspace, toolId, version, limit }))
  }

  wholeOutput(workspace: string, executionId: string) {
    return this.#output(workspace, eq(executionResults.executionId, executionId))
  }

  #output(workspace: string, which: SQL | undefined) {
    return guard(async () => {
      const [row] = await this.#db
        .select({
          mediaType: executionResults.mediaType,
          content: executionResults.content,
          suspicious: toolExecutions.suspicious,
        })
        .from(executionResults)
        .leftJoin(toolExecutions, eq(toolExecutions.id, executionResults.executionId))
        .where(and(eq(executionResults.workspaceId, workspace), which))
      return row && { ...row, suspicious: row.suspicious ?? undefined }
    })
  }

  append({ id, attempt }: Attempt, events: readonly ExecutionEvent[]) {
    return guard(async () => {
      await this.#db
        .insert(executionEvents)
        .values(events.map((event) => ({ executionId: id, attempt, ...event })))
        .onConflictDoNothing()
      await this.#db.execute(sql`select pg_notify(${runChannel}, ${`changed:${id}`})`)
    })
  }

  events(id: string, afterSeq: number): Promise<readonly ExecutionEvent[]> {
    return guard(async () => {
      const rows = await this.#db
        .select({ seq: executionEvents.seq, stream: executionEvents.stream, text: executionEvents.text })
        .from(executionEvents)
        .where(and(eq(executionEvents.executionId, id), gt(executionEvents.seq, afterSeq)))
        .orderBy(asc(executionEvents.attempt), asc(executionEvents.seq))
        .limit(1000)
      return rows as readonly ExecutionEvent[]
    })
  }

  async result({ workspace, actor, toolsets }: Caller, handle: string) {
    if (!isUuid(handle)) return undefined
    const { id, callerId, expiresAt } = executionResults
    const isThrough = toolsets === undefined ? undefined : calledThrough(toolsets)
    return this.#output(workspace, and(eq(id, handle), eq(callerId, actor), sql`${expiresAt} > now()`, isThrough))
  }

  sweep(self?: SweepingWorker) {
    return guard(async () => {
      const { swept, ends } = await sweepExecutions(this.#db, self)
      this.#report(ends)
      return swept
    })
  }

  prune(retention: Retention) {
    return guard(() => pruneExecutions(this.#db, retention))
  }

  queue(workspace: string) {
    return guard(() => selectQueueState(this.#db, workspace))
  }

  listen(onNotice: Parameters<ExecutionStore['listen']>[0]) {
    return this.#listen(runChannel, (payload) => {
      const notice = readNotice(payload)
      if (notice !== undefined) onNotice(notice)
    })
  }
}

const weightOf = ({ outputData, logs }: FinishedRun): number =>
  logs.stdout.length + logs.stderr.length + (JSON.stringify(outputData)?.length ?? 0)

/** Only outputs of calls that came through one of these toolsets. */
const calledThrough = (
  toolsets: readonly string[],
) => sql`exists (select 1 from tool_executions run, jsonb_array_elements_text(run.toolsets) name
  where run.id = ${executionResults.executionId} and name in (${sql.join(
    toolsets.map((name) => sql`${name}`),
    sql`, `,
  )}))`

const aboutResult = {
  id: executionResults.id,
  bytes: executionResults.bytes,
  mediaType: executionResults.mediaType,
  expiresAt: executionResults.expiresAt,
}
