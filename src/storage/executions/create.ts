import { and, eq, ne, or, type SQL, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import type { Attempt, Beginning, Execution, NewExecution, QueueLimits } from '../../contract/execution.ts'
import type { Caller } from '../../contract/stores.ts'
import { storableJson } from '../../rules/storable.ts'
import { type Db, rowsOfResult } from '../database.ts'
import { toolExecutions } from '../schema-runs.ts'
import type { QueueRooms, Waiting } from './queue-room.ts'
import { toExecution, toFreshExecution } from './rows.ts'

interface InsertedRow {
  /** The creation time; null where the queue is full or the key was used before. */
  readonly made: string | number | null
  /** Counted only where necessary. */
  readonly of_tool: number | null
  readonly of_caller: number | null
  readonly all_waiting: number | null
}

type Queued = Extract<Beginning, { readonly withinMs: number }>

/** Stores a new run that waits for a worker or for approval, in one statement; rejected where too many wait. */
export async function createExecution(
  db: Db,
  rooms: QueueRooms,
  { workspace }: Caller,
  draft: NewExecution,
  begin: Queued,
): Promise<{ execution: Execution; fresh: boolean }> {
  const room = rooms[begin.how]
  const counts = !room.take(workspace, draft)
  const [row] = rowsOfResult<InsertedRow>(await db.execute(insertion(workspace, draft, begin, counts)))
  const waiting = { ofTool: Number(row?.of_tool), ofCaller: Number(row?.of_caller), all: Number(row?.all_waiting) }
  if (row === undefined || row.made === null) {
    const full = counts ? fullMessage(draft, begin, waiting) : undefined
    return { execution: await findExistingExecution(db, workspace, draft, full), fresh: false }
  }
  if (counts) room.note(workspace, draft, begin.limits, waiting)
  return { execution: toFreshExecution(draft, begin, Number(row.made)), fresh: true }
}

/** Names the reached limit, so that the caller can tell whether another tool or key would be accepted. */
function fullMessage(
  { toolName }: NewExecution,
  { how, limits: { all, perTool, perCaller } }: Queued,
  waiting: Waiting,
): string {
  const wait = how === 'approval' ? 'are waiting for approval' : 'are waiting'
  if (waiting.all >= all) return `Too many calls ${wait}: ${all} of all tools and callers together.`
  if (waiting.ofTool >= perTool) return `Too many calls of ${toolName} ${wait}: ${perTool}.`
  if (waiting.ofCaller >= perCaller) return `Too many calls of this caller ${wait}: ${perCaller}.`
  return `Too many calls ${wait}.`
}

function insertion(workspace: string, draft: NewExecution, begin: Queued, counts: boolean): SQL {
  const reason = begin.how === 'approval' ? 'approval' : 'queued'
  return sql`
    with ${counts ? waitingOf(workspace, draft, begin) : sql``} made as (
      insert into tool_executions (id, workspace_id, tool_id, tool_name, version, status, input_data, timeout_ms,
        caller_id, caller_label, caller_groups, toolsets, limits, trace_id, traceparent, idempotency_key, body_hash,
        max_attempts, definition, purpose, parent_id, reason, label, turn, attempt, expires_at)
      select ${draft.id}::uuid, ${workspace}, ${draft.toolId}::uuid, ${draft.toolName}, ${draft.version}::int,
        'PENDING'::execution_status, ${storableJson(draft.inputData)}::json, ${draft.timeoutMs}::int,
        ${draft.callerId}, ${draft.callerLabel}, ${jsonOrNull(draft.callerGroups)}::jsonb, ${jsonOrNull(draft.toolsets)}::jsonb,
        ${jsonOrNull(draft.limits)}::jsonb, ${draft.traceId}, ${draft.traceparent}, ${draft.idempotencyKey}, ${draft.bodyHash},
        ${draft.maxAttempts}::int, ${jsonOrNull(draft.definition)}::json,
        ${draft.purpose}, ${draft.parentId}::uuid, ${reason}, ${begin.label}, ${turn(workspace, draft.callerId, begin.label)}, 0,
        ${after(begin.withinMs)}
      ${counts ? isRoom(begin.limits) : sql``}
      on conflict do nothing
      returning created_at
    )
    select (extract(epoch from created_at) * 1000)::float8 as made
      ${counts ? sql`, of_tool, of_caller, all_waiting from waiting left join made on true` : sql`from made`}`
}

const jsonOrNull = (value: unknown): string | null => (value == null ? null : storableJson(value))

/** A time by the clock of the database. */
export const after = (ms: number): SQL => sql`now() + ${ms}::float8 * interval '1 millisecond'`

/** Callers take turns: each waiting run of a caller comes after the earlier ones, and a caller without any comes first. */
const turn = (workspace: string, callerId: string | null, label: string): SQL => sql`greatest(
  coalesce((select turn from tool_executions where status = 'PENDING' and workspace_id = ${workspace}
    and caller_id = ${callerId} and turn is not null order by turn desc limit 1), 0) + 1,
  coalesce((select min(turn) from tool_executions where label = ${label} and worker is null
    and status in ('PENDING', 'RUNNING')), 1))`

/** The numbers of waiting runs of the tool, of the caller and in all, counted up to their limits. */
const waitingOf = (
  workspace: string,
  { toolName, callerId }: NewExecution,
  { how, limits: { all, perTool, perCaller } }: Queued,
): SQL => {
  // Runs that wait for approval do not count toward the limits of the queue.
  const same = how === 'approval' ? sql`reason = 'approval'` : sql`reason is distinct from 'approval'`
  return sql`waiting as materialized (select
    ${count(sql`${same} and workspace_id = ${workspace} and tool_name = ${toolName}`, perTool)} as of_tool,
    ${count(sql`${same} and workspace_id = ${workspace} and caller_id = ${callerId}`, perCaller)} as of_caller,
    ${count(sql`${same} and label is not null`, all)} as all_waiting),`
}

const count = (which: SQL, max: number): SQL =>
  sql`(select count(*)::int from (select 1 from tool_executions where status = 'PENDING' and ${which} limit ${max}::int) few)`

const isRoom = ({ all, perTool, perCaller }: QueueLimits): SQL =>
  sql`from waiting where of_tool < ${perTool}::int and of_caller < ${perCaller}::int and all_waiting < ${all}::int`

/** Returns the existing run with the key; another call under the key is rejected, and a call without one found the queue full. */
export async function findExistingExecution(
  db: Db,
  workspace: string,
  draft: NewExecution,
  full = 'Too many calls are waiting.',
): Promise<Execution> {
  const [row] = await db
    .select()
    .from(toolExecutions)
    .where(
      or(
        and(eq(toolExecutions.id, draft.id), eq(toolExecutions.workspaceId, workspace)),
        draft.idempotencyKey === null
          ? undefined
          : and(
              eq(toolExecutions.workspaceId, workspace),
              eq(toolExecutions.callerId, draft.callerId ?? ''),
              eq(toolExecutions.idempotencyKey, draft.idempotencyKey),
              or(ne(toolExecutions.status, 'CANCELLED'), ne(toolExecutions.attempt, 0)),
            ),
      ),
    )
  if (row === undefined) throw new TooldexError('TOO_BUSY', full)
  if (row.id !== draft.id && row.bodyHash !== draft.bodyHash)
    throw new TooldexError('KEY_REUSED', 'The idempotency key was used for another call.')
  return toExecution(row)
}

/** A run of the process that received the call. */
export interface InlineDraft {
  readonly workspace: string
  readonly draft: NewExecution
  readonly begin: Extract<Beginning, { readonly worker: string }>
}

/** Stores runs in one statement and returns the creation time of each; undefined where its key was used before. */
export async function createInlineExecutions(
  db: Db,
  drafts: readonly InlineDraft[],
  mayDefer: boolean,
): Promise<readonly (number | undefined)[]> {
  const rows = rowsOfResult<{ id: string; created: string | number }>(
    await db.execute(sql`
      insert into tool_executions (id, workspace_id, tool_id, tool_name, version, status, input_data, timeout_ms,
        caller_id, caller_label, caller_groups, toolsets, limits, trace_id, traceparent, idempotency_key, body_hash,
        max_attempts, definition, purpose, parent_id, reason, worker, lease_until, attempt, started_at)
      select id, workspace, tool_id, tool_name, version, status::execution_status, input::json, timeout_ms, caller_id,
        caller_label, caller_groups, toolsets, limits, trace_id, traceparent, idempotency_key, body_hash, max_attempts, definition::json, purpose, parent_id, reason, worker,
        now() + lease_ms * interval '1 millisecond', attempt, case when attempt > 0 then now() end
      from jsonb_to_recordset(${storableJson(drafts.map(toInputRow))}::jsonb) as given (id uuid, workspace text,
        tool_id uuid, tool_name text, version int, status text, input text, timeout_ms int, caller_id text,
        caller_label text, caller_groups jsonb, toolsets jsonb, limits jsonb, trace_id text, traceparent text, idempotency_key text, body_hash text, max_attempts int, definition text,
        purpose text, parent_id uuid, reason text, worker text, lease_ms float8, attempt int)
        ${mayDefer && drafts.every(({ begin }) => begin.unflushed) ? unflushed : sql``}
      on conflict do nothing
      returning id, (extract(epoch from created_at) * 1000)::float8 as created`),
  )
  const created = new Map(rows.map((row) => [row.id, Number(row.created)]))
  return drafts.map(({ draft }) => created.get(draft.id))
}

/**
 * Lets the commit of a statement return before its log is on disk; a crash of the database server may then lose it. Not for the
 * embedded engine, which crashes with the process.
 */
const unflushed = sql`cross join (select set_config('synchronous_commit', 'off', true)) as setting`

function toInputRow({ workspace, draft, begin }: InlineDraft) {
  const runs = begin.how === 'run'
  return {
    id: draft.id,
    workspace,
    tool_id: draft.toolId,
    tool_name: draft.toolName,
    version: draft.version,
    status: runs ? 'RUNNING' : 'PENDING',
    input: storableJson(draft.inputData),
    timeout_ms: draft.timeoutMs,
    caller_id: draft.callerId,
    caller_label: draft.callerLabel,
    caller_groups: draft.callerGroups ?? null,
    toolsets: draft.toolsets ?? null,
    limits: draft.limits ?? null,
    trace_id: draft.traceId,
    traceparent: draft.traceparent,
    idempotency_key: draft.idempotencyKey,
    body_hash: draft.bodyHash,
    max_attempts: draft.maxAttempts,
    definition: jsonOrNull(draft.definition),
    purpose: draft.purpose,
    parent_id: draft.parentId,
    reason: runs ? null : 'queued',
    worker: begin.worker,
    // Without a renewal the lease ends with the deadline of the run.
    lease_ms: begin.leaseMs + draft.timeoutMs,
    attempt: runs ? 1 : 0,
  }
}

/** An attempt of a run that waited for a slot of the process that received the call. */
export interface AttemptStart {
  readonly attempt: Attempt
  readonly worker: string
  readonly leaseMs: number
}

/** Starts waiting runs in one statement; false for one that is no longer waiting. */
export async function startExecutions(db: Db, starts: readonly AttemptStart[]): Promise<readonly boolean[]> {
  const given = starts.map(({ attempt: { id, attempt }, worker, leaseMs }) => ({
    id,
    attempt,
    worker,
    lease_ms: leaseMs,
  }))
  const rows = rowsOfResult<{ id: string }>(
    await db.execute(sql`
      update tool_executions run set status = 'RUNNING', attempt = run.attempt + 1, started_at = now(),
        lease_until = now() + given.lease_ms * interval '1 millisecond', updated_at = now()
      from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as given (id uuid, attempt int, worker text, lease_ms float8)
      where run.id = given.id and run.attempt = given.attempt and run.status = 'PENDING' and run.worker = given.worker
      returning run.id`),
  )
  const started = new Set(rows.map(({ id }) => id))
  return starts.map(({ attempt: { id } }) => started.has(id))
}
