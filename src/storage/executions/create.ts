import { and, eq, ne, or, type SQL, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import type { Beginning, Execution, NewExecution, QueueLimits } from '../../contract/execution.ts'
import type { Caller } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { rowsOf } from '../migrate.ts'
import { toolExecutions } from '../schema-runs.ts'
import { runChannel } from './notices.ts'
import { toExecution, toFresh } from './rows.ts'
import { storableJson } from './storable.ts'

/** Writes a new run down in one statement; refused where too many wait. */
export async function createExecution(
  db: Db,
  { workspace }: Caller,
  draft: NewExecution,
  begin: Beginning,
): Promise<{ execution: Execution; fresh: boolean }> {
  const made = rowsOf<{ made: string | number }>(await db.execute(insertion(workspace, draft, begin)))
  const [row] = made
  if (row !== undefined) return { execution: toFresh(draft, begin, Number(row.made)), fresh: true }
  const known = await findKnown(db, workspace, draft)
  if (known !== undefined) return { execution: known, fresh: false }
  throw new TooldexError('TOO_BUSY', `Too many calls of ${draft.toolName} or of this caller are waiting.`)
}

function insertion(workspace: string, draft: NewExecution, begin: Beginning): SQL {
  const waits = 'withinMs' in begin
  const label = waits ? begin.label : null
  const lease = waits ? sql`null` : after(begin.leaseMs)
  const [status, attempt, startedAt] = begin.how === 'run' ? ['RUNNING', 1, sql`now()`] : ['PENDING', 0, sql`null`]
  const reason = begin.how === 'run' ? null : begin.how === 'approval' ? 'approval' : 'queued'
  return sql`
    with made as (
      insert into tool_executions (id, workspace_id, tool_id, tool_name, version, status, input_data, timeout_ms,
        caller_id, trace_id, traceparent, idempotency_key, body_hash, max_attempts, definition, purpose, reason, label, turn, worker,
        lease_until, attempt, started_at, expires_at)
      select ${draft.id}::uuid, ${workspace}, ${draft.toolId}::uuid, ${draft.toolName}, ${draft.version}::int,
        ${status}::execution_status, ${storableJson(draft.inputData)}::jsonb, ${draft.timeoutMs}::int,
        ${draft.callerId}, ${draft.traceId}, ${draft.traceparent}, ${draft.idempotencyKey}, ${draft.bodyHash}, ${draft.maxAttempts}::int,
        ${draft.definition == null ? null : storableJson(draft.definition)}::jsonb, ${draft.purpose}, ${reason},
        ${label}, ${waits ? turn(workspace, draft.callerId, begin.label) : sql`null`}, ${waits ? null : begin.worker}, ${lease},
        ${attempt}::int, ${startedAt}, ${waits ? after(begin.withinMs) : sql`null`}
      ${waits ? sql`where ${room(workspace, draft, begin.limits)}` : sql``}
      on conflict do nothing
      returning created_at
    )
    select (extract(epoch from created_at) * 1000)::float8 as made
      ${begin.how === 'queue' ? sql`, pg_notify(${runChannel}, ${`queued:${draft.id}`})` : sql``} from made`
}

/** A time by the clock of the database. */
export const after = (ms: number): SQL => sql`now() + ${ms}::float8 * interval '1 millisecond'`

/** Callers take turns: whoever has many waiting comes after the others, whoever has none waiting comes now. */
const turn = (workspace: string, callerId: string | null, label: string): SQL => sql`greatest(
  coalesce((select max(turn) from tool_executions where status = 'PENDING' and workspace_id = ${workspace}
    and caller_id = ${callerId}), 0) + 1,
  coalesce((select min(turn) from tool_executions where label = ${label} and worker is null
    and status in ('PENDING', 'RUNNING')), 1))`

const room = (
  workspace: string,
  { toolName, callerId }: NewExecution,
  { all, perTool, perCaller }: QueueLimits,
): SQL => {
  const ofTool = sql`workspace_id = ${workspace} and tool_name = ${toolName}`
  const ofCaller = sql`workspace_id = ${workspace} and caller_id = ${callerId}`
  return sql`${waiting(ofTool, perTool)} and ${waiting(ofCaller, perCaller)} and ${waiting(sql`label is not null`, all)}`
}

/** Whether fewer than this many wait; no more than that are counted. */
const waiting = (which: SQL, most: number): SQL =>
  sql`(select count(*) from (select 1 from tool_executions where status = 'PENDING' and ${which} limit ${most}::int) few) < ${most}::int`

/** The run that has the key already; another call under it is refused. */
async function findKnown(db: Db, workspace: string, draft: NewExecution): Promise<Execution | undefined> {
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
  if (row === undefined) return undefined
  if (row.id !== draft.id && row.bodyHash !== draft.bodyHash)
    throw new TooldexError('KEY_REUSED', 'The idempotency key was used for another call.')
  return toExecution(row)
}
