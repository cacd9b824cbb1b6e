import { sql } from 'drizzle-orm'
import { storableJson } from '../../base/storable.ts'
import type { Beginning, NewExecution } from '../../contract/execution.ts'
import type { Db } from '../database.ts'
import { rowsOf } from '../rows-of.ts'

/** A run of the process that received the call. */
export interface InlineDraft {
  readonly workspace: string
  readonly draft: NewExecution
  readonly begin: Extract<Beginning, { readonly worker: string }>
}

/** Stores runs in one statement and returns the creation time of each; undefined where its key was used before. */
export async function createInline(db: Db, drafts: readonly InlineDraft[]): Promise<readonly (number | undefined)[]> {
  const rows = rowsOf<{ id: string; created: string | number }>(
    await db.execute(sql`
      insert into tool_executions (id, workspace_id, tool_id, tool_name, version, status, input_data, timeout_ms,
        caller_id, caller_label, trace_id, traceparent, idempotency_key, body_hash, max_attempts, definition, purpose,
        reason, worker, lease_until, attempt, started_at)
      select id, workspace, tool_id, tool_name, version, status::execution_status, input::json, timeout_ms, caller_id,
        caller_label, trace_id, traceparent, idempotency_key, body_hash, max_attempts, definition::json, purpose, reason, worker,
        now() + lease_ms * interval '1 millisecond', attempt, case when attempt > 0 then now() end
      from jsonb_to_recordset(${storableJson(drafts.map(toInputRow))}::jsonb) as given (id uuid, workspace text,
        tool_id uuid, tool_name text, version int, status text, input text, timeout_ms int, caller_id text,
        caller_label text, trace_id text, traceparent text, idempotency_key text, body_hash text, max_attempts int, definition text,
        purpose text, reason text, worker text, lease_ms float8, attempt int)
      on conflict do nothing
      returning id, (extract(epoch from created_at) * 1000)::float8 as created`),
  )
  const created = new Map(rows.map((row) => [row.id, Number(row.created)]))
  return drafts.map(({ draft }) => created.get(draft.id))
}

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
    trace_id: draft.traceId,
    traceparent: draft.traceparent,
    idempotency_key: draft.idempotencyKey,
    body_hash: draft.bodyHash,
    max_attempts: draft.maxAttempts,
    definition: draft.definition == null ? null : storableJson(draft.definition),
    purpose: draft.purpose,
    reason: runs ? null : 'queued',
    worker: begin.worker,
    // Without a renewal the lease ends with the deadline of the run.
    lease_ms: begin.leaseMs + draft.timeoutMs,
    attempt: runs ? 1 : 0,
  }
}
