import { and, asc, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import type {
  Attempt,
  Beginning,
  Execution,
  ExecutionEvent,
  ExecutionQuery,
  ExecutionStore,
  FinishedRun,
  NewExecution,
  Retention,
} from '../../contract/execution.ts'
import { isFinal } from '../../contract/execution.ts'
import type { Caller } from '../../contract/stores.ts'
import type { Database, Db } from '../database.ts'
import { guard, transact } from '../guard.ts'
import type { Cursors } from '../page.ts'
import { record } from '../record.ts'
import { isUuid } from '../rows.ts'
import { executionEvents, executionResults, toolExecutions } from '../schema-runs.ts'
import { claimExecutions } from './claim.ts'
import { after, createExecution } from './create.ts'
import { finishExecution } from './finish.ts'
import { listExecutions } from './list.ts'
import { readNotice, runChannel } from './notices.ts'
import { RunNotifier } from './notifier.ts'
import { readQueue } from './queue.ts'
import { QueueRoom } from './queue-room.ts'
import { toExecution } from './rows.ts'
import { readSamples } from './samples.ts'
import { pruneExecutions, sweepExecutions } from './sweep.ts'

const unknown = (id: string) => new TooldexError('NOT_FOUND', `Unknown execution: ${id.slice(0, 100)}.`)
const runs = toolExecutions

/** Recorded runs, in the database. */
export class DatabaseExecutionStore implements ExecutionStore {
  readonly #db: Db
  readonly #listen: Database['listen']
  readonly #cursors: () => Promise<Cursors>
  readonly #notifier: RunNotifier
  readonly #room = new QueueRoom()

  constructor(db: Db, listen: Database['listen'], cursors: () => Promise<Cursors>) {
    this.#db = db
    this.#listen = listen
    this.#cursors = cursors
    this.#notifier = new RunNotifier(db)
  }

  create(caller: Caller, draft: NewExecution, begin: Beginning) {
    return guard(async () => {
      const made = await createExecution(this.#db, this.#room, caller, draft, begin)
      if (made.fresh && begin.how === 'queue') this.#notifier.tell({ kind: 'queued', id: draft.id })
      return made
    })
  }

  start({ id, attempt }: Attempt, worker: string, leaseMs: number) {
    return guard(async () => {
      const rows = await this.#db
        .update(runs)
        .set({
          status: 'RUNNING',
          attempt: attempt + 1,
          startedAt: sql`now()`,
          leaseUntil: after(leaseMs),
          updatedAt: sql`now()`,
        })
        .where(and(eq(runs.id, id), eq(runs.attempt, attempt), eq(runs.status, 'PENDING'), eq(runs.worker, worker)))
        .returning({ id: runs.id })
      return rows.length > 0
    })
  }

  claim(worker: string, options: { limit: number; labels: readonly string[]; leaseMs: number }) {
    return guard(() => claimExecutions(this.#db, worker, options))
  }

  beat(worker: string, attempts: readonly Attempt[], leaseMs: number) {
    return guard(async () => {
      const ids = attempts.map(({ id }) => id)
      const rows = await this.#db
        .update(runs)
        .set({ leaseUntil: after(leaseMs) })
        .where(and(inArray(runs.id, ids), eq(runs.worker, worker), inArray(runs.status, ['PENDING', 'RUNNING'])))
        .returning({ id: runs.id, attempt: runs.attempt, cancel: runs.cancelRequested })
      const held = new Map(rows.map((row) => [row.id, row]))
      return {
        lost: attempts
          .filter(({ id, attempt }) => (held.get(id)?.attempt ?? -1) > attempt || !held.has(id))
          .map(({ id }) => id),
        cancel: rows.filter(({ cancel }) => cancel).map(({ id }) => id),
      }
    })
  }

  finish(attempt: Attempt, run: FinishedRun) {
    return guard(() => finishExecution(this.#db, this.#notifier, attempt, run))
  }

  cancel(caller: Caller, id: string, why: { code: string; message: string }) {
    return this.#decided(caller, id, { action: 'execution.cancel' }, async (db, before) => {
      if (isFinal(before.status)) throw notPossible(before, 'cancelled')
      const [ended] = await db
        .update(runs)
        .set({
          status: 'CANCELLED',
          errorCode: why.code,
          errorMessage: why.message,
          completedAt: sql`now()`,
          updatedAt: sql`now()`,
        })
        .where(
          and(
            eq(runs.id, before.id),
            or(eq(runs.status, 'PENDING'), and(eq(runs.status, 'RUNNING'), isNull(runs.worker))),
          ),
        )
        .returning()
      if (ended !== undefined) return ended
      const [asked] = await db
        .update(runs)
        .set({ cancelRequested: true, updatedAt: sql`now()` })
        .where(and(eq(runs.id, before.id), eq(runs.status, 'RUNNING')))
        .returning()
      return asked
    })
  }

  decide(caller: Caller, id: string, { approve, note }: { approve: boolean; note?: string | undefined }) {
    const action = approve ? 'execution.approve' : 'execution.refuse'
    return this.#decided(caller, id, { action, note }, async (db, before) => {
      const no = { status: 'CANCELLED', errorCode: 'APPROVAL_REFUSED', completedAt: sql`now()` } as const
      const message = note === undefined ? 'The call was refused.' : `The call was refused: ${note}`
      const [row] = await db
        .update(runs)
        .set({
          ...(approve ? { reason: 'queued', expiresAt: after(queueMs) } : { ...no, errorMessage: message }),
          decidedBy: caller.actor,
          updatedAt: sql`now()`,
        })
        .where(and(eq(runs.id, before.id), eq(runs.status, 'PENDING'), eq(runs.reason, 'approval')))
        .returning()
      if (row === undefined) throw notPossible(before, approve ? 'approved' : 'refused')
      return row
    })
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
    return guard(async () => listExecutions(this.#db, await this.#cursors(), workspace, query))
  }

  samples(workspace: string, toolId: string, version: number, limit: number) {
    return guard(() => readSamples(this.#db, { workspace, toolId, version, limit }))
  }

  wholeOutput(workspace: string, executionId: string) {
    return guard(async () => {
      const [row] = await this.#db
        .select({ mediaType: executionResults.mediaType, content: executionResults.content })
        .from(executionResults)
        .where(and(eq(executionResults.executionId, executionId), eq(executionResults.workspaceId, workspace)))
      return row
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

  result({ workspace, actor }: Caller, handle: string) {
    return guard(async () => {
      if (!isUuid(handle)) return undefined
      const [row] = await this.#db
        .select({ mediaType: executionResults.mediaType, content: executionResults.content })
        .from(executionResults)
        .where(
          and(
            eq(executionResults.id, handle),
            eq(executionResults.workspaceId, workspace),
            eq(executionResults.callerId, actor),
            sql`${executionResults.expiresAt} > now()`,
          ),
        )
      return row
    })
  }

  sweep() {
    return guard(() => sweepExecutions(this.#db))
  }

  prune(retention: Retention) {
    return guard(() => pruneExecutions(this.#db, retention))
  }

  queue(workspace: string) {
    return guard(() => readQueue(this.#db, workspace))
  }

  listen(onNotice: Parameters<ExecutionStore['listen']>[0]) {
    return this.#listen(runChannel, (payload) => {
      const notice = readNotice(payload)
      if (notice !== undefined) onNotice(notice)
    })
  }

  /** A decision about one run: made, recorded and told together. */
  #decided(
    caller: Caller,
    id: string,
    { action, note }: { action: string; note?: string | undefined },
    decide: (db: Db, before: Execution) => Promise<typeof runs.$inferSelect | undefined>,
  ): Promise<Execution> {
    return transact(this.#db, async (db) => {
      if (!isUuid(id)) throw unknown(id)
      const [row] = await db
        .select()
        .from(runs)
        .where(and(eq(runs.id, id), eq(runs.workspaceId, caller.workspace)))
      if (row === undefined) throw unknown(id)
      const before = toExecution(row)
      const changed = await decide(db, before)
      // It ended in this very moment; then that is how it ended.
      const [now = row] = changed === undefined ? await db.select().from(runs).where(eq(runs.id, id)) : [changed]
      if (changed !== undefined)
        await record(db, caller, {
          action,
          subject: `execution:${id}`,
          before: { status: before.status, reason: before.reason, tool: before.toolName, caller: before.callerId },
          after: { status: now.status, ...(note === undefined ? {} : { note }) },
        })
      const kind =
        now.cancelRequested && now.status === 'RUNNING' ? 'cancel' : now.status === 'PENDING' ? 'queued' : 'changed'
      await db.execute(sql`select pg_notify(${runChannel}, ${`${kind}:${id}`})`)
      return toExecution(now)
    })
  }
}

// What was approved waits for a worker like everything else.
const queueMs = 3_600_000

const aboutResult = {
  id: executionResults.id,
  bytes: executionResults.bytes,
  mediaType: executionResults.mediaType,
  expiresAt: executionResults.expiresAt,
}

const notPossible = ({ id, status, reason }: Execution, what: string): TooldexError => {
  const state = reason === null ? status : `${status} (${reason})`
  return new TooldexError('ILLEGAL_STEP', `The execution ${id} is ${state} and cannot be ${what} any more.`)
}
