import { type SQL, sql } from 'drizzle-orm'
import type { Attempt, Ended, FinishedRun, NewStoredResult } from '../../contract/execution.ts'
import type { Db } from '../database.ts'
import { rowsOf } from '../migrate.ts'
import { after } from './create.ts'
import { runChannel } from './notices.ts'
import { storableJson, storableText } from './storable.ts'

/** The final write of an attempt, in one statement: it changes nothing where the attempt is not the present one. */
export async function finishExecution(db: Db, { id, attempt }: Attempt, run: FinishedRun): Promise<Ended | undefined> {
  const { outcome, outputData, logs, stored, told } = run
  const { status, result, isolation, errorCode, errorMessage } = outcome
  const [row] = rowsOf<{ ended: string | number; took: number; expires: string | number | null }>(
    await db.execute(sql`
      with done as (
        update tool_executions set status = ${status}::execution_status, output_data = ${storableJson(outputData)}::jsonb,
          stdout = ${storableText(logs.stdout)}, stderr = ${storableText(logs.stderr)}, truncated = ${result.truncated},
          exit_code = ${result.exitCode}::int, isolation = ${isolation}, environment = ${outcome.environment ?? null}, error_code = ${errorCode},
          error_message = ${errorMessage === null ? null : storableText(errorMessage)}, completed_at = now(),
          updated_at = now(), lease_until = null,
          duration_ms = round(extract(epoch from (now() - started_at)) * 1000)::int
        where id = ${id}::uuid and attempt = ${attempt}::int and status = 'RUNNING'
        returning id, workspace_id, caller_id, completed_at, duration_ms, label, idempotency_key
      ) ${stored === null ? sql`` : keep(stored)} ${told || attempt > 1 ? forget : sql``}
      select (extract(epoch from completed_at) * 1000)::float8 as ended, duration_ms as took,
        ${stored === null ? sql`null` : sql`(select (extract(epoch from expires_at) * 1000)::float8 from kept)`} as expires,
        case when label is not null or idempotency_key is not null or ${told}
          then pg_notify(${runChannel}, 'changed:' || id) end
      from done`),
  )
  if (row === undefined) return undefined
  return {
    completedAt: new Date(Number(row.ended)).toISOString(),
    durationMs: Number(row.took),
    stored: stored === null ? null : describe(stored, Number(row.expires)),
  }
}

const keep = ({ handle, mediaType, content, lifeMs }: NewStoredResult): SQL => sql`, kept as (
  insert into execution_results (id, workspace_id, execution_id, caller_id, media_type, bytes, content, expires_at)
  select ${handle}::uuid, workspace_id, id, caller_id, ${mediaType}, ${Buffer.byteLength(content)}::int,
    ${storableText(content)}, ${after(lifeMs)} from done returning expires_at)`

const forget: SQL = sql`, gone as (delete from execution_events where execution_id in (select id from done))`

const describe = ({ handle, mediaType, content }: NewStoredResult, expires: number) => ({
  handle,
  mediaType,
  bytes: Buffer.byteLength(content),
  expiresAt: new Date(expires).toISOString(),
})
