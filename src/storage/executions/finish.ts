import { and, inArray, type SQL, sql } from 'drizzle-orm'
import type { Attempt, Ended, FinishedRun, GiveBackOptions, NewStoredResult } from '../../contract/execution.ts'
import { storableJson, storableText } from '../../rules/storable.ts'
import { today } from '../access/limit-counters.ts'
import { type Db, rowsOfResult } from '../database.ts'
import { toolExecutions as runs } from '../schema-runs.ts'
import { after } from './create.ts'

/** An attempt and its end. */
export interface AttemptEnd {
  readonly attempt: Attempt
  readonly run: FinishedRun
}

/** The result of the final write; `awaited` is whether another process may wait for it. */
export interface WrittenEnd {
  readonly ended: Ended
  readonly awaited: boolean
}

interface Row {
  readonly id: string
  readonly ended: string | number
  readonly took: number
  readonly expires?: string | number | null
  readonly awaited: boolean
}

/** The final writes of several attempts in one statement; a write changes nothing where the attempt is not current. */
export async function finishExecutions(
  db: Db,
  ends: readonly AttemptEnd[],
): Promise<readonly (WrittenEnd | undefined)[]> {
  const stored = ends.length === 1 ? (ends[0]?.run.stored ?? null) : null
  const isLimited = ends.some(({ run }) => run.cost !== undefined)
  const rows = rowsOfResult<Row>(
    await db.execute(sql`
      with done as (
        update tool_executions run set status = given.status::execution_status, output_data = given.output::json,
          stdout = given.stdout, stderr = given.stderr, truncated = given.truncated, suspicious = given.suspicious, exit_code = given.exit_code,
          isolation = given.isolation, environment = given.environment, error_code = given.error_code,
          error_message = given.error_message, completed_at = now(), updated_at = now(), lease_until = null,
          duration_ms = ${tookMs(sql`run.started_at`)}
        from jsonb_to_recordset(${storableJson(ends.map(toInputRow))}::jsonb) as given (id uuid, attempt int, status text,
          output text, stdout text, stderr text, truncated boolean, suspicious jsonb, exit_code int, isolation text, environment text,
          error_code text, error_message text, published boolean, bytes float8, tokens float8)
        where run.id = given.id and run.attempt = given.attempt and run.status = 'RUNNING'
        returning run.id, run.workspace_id, run.caller_id, run.completed_at, run.duration_ms, run.limits, given.bytes, given.tokens,
          (run.label is not null or run.idempotency_key is not null or given.published) as awaited
      ) ${stored === null ? sql`` : saveResult(stored)} ${isLimited ? addUse : sql``}
      select id, (extract(epoch from completed_at) * 1000)::float8 as ended, duration_ms as took, awaited
        ${stored === null ? sql`` : sql`, (select (extract(epoch from expires_at) * 1000)::float8 from saved) as expires`}
      from done`),
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ends.map(({ attempt, run }) => toWritten(byId.get(attempt.id), run.stored))
}

function toInputRow({ attempt: { id, attempt }, run: { outcome, outputData, logs, published, cost } }: AttemptEnd) {
  const { status, result, isolation, errorCode, errorMessage, environment = null, suspicious = null } = outcome
  return {
    id,
    attempt,
    status,
    output: storableJson(outputData),
    stdout: logs.stdout,
    stderr: logs.stderr,
    truncated: result.truncated,
    suspicious,
    exit_code: result.exitCode,
    isolation,
    environment,
    error_code: errorCode,
    error_message: errorMessage,
    published,
    ...(cost ?? {}),
  }
}

function toWritten(row: Row | undefined, stored: NewStoredResult | null): WrittenEnd | undefined {
  if (row === undefined) return undefined
  const ended = {
    completedAt: new Date(Number(row.ended)).toISOString(),
    durationMs: Number(row.took),
    stored: stored === null ? null : describe(stored, Number(row.expires)),
  }
  return { ended, awaited: row.awaited }
}

const saveResult = ({ handle, mediaType, content, lifeMs }: NewStoredResult): SQL => sql`, saved as (
  insert into execution_results (id, workspace_id, execution_id, caller_id, media_type, bytes, content, expires_at)
  select ${handle}::uuid, workspace_id, id, caller_id, ${mediaType}, ${Buffer.byteLength(content)}::int,
    ${storableText(content)}, ${after(lifeMs)} from done returning expires_at)`

/** Adds the cost of the runs to the limits that they count toward, in the order in which counters are locked. */
const addUse: SQL = sql`, used as (
  insert into limit_usage as u (workspace_id, limit_name, subject, day, ms, bytes, tokens)
  select workspace_id, key ->> 0, key ->> 1, ${today}, coalesce(sum(duration_ms), 0), coalesce(sum(bytes), 0), coalesce(sum(tokens), 0)
    from done, jsonb_array_elements(limits) key group by 1, 2, 3 order by 1, 2, 3
  on conflict (workspace_id, limit_name, subject) do update set day = excluded.day,
    calls = case when u.day = excluded.day then u.calls else 0 end,
    ms = case when u.day = excluded.day then u.ms else 0 end + excluded.ms,
    bytes = case when u.day = excluded.day then u.bytes else 0 end + excluded.bytes,
    tokens = case when u.day = excluded.day then u.tokens else 0 end + excluded.tokens)`

const describe = ({ handle, mediaType, content }: NewStoredResult, expires: number) => ({
  handle,
  mediaType,
  bytes: Buffer.byteLength(content),
  expiresAt: new Date(expires).toISOString(),
})

/** The maximum of the duration column: 24.8 days. */
export const maxDurationMs = 2_147_483_647

/** The duration of a run by the clock of the database, limited to the maximum of the column. */
export const tookMs = (startedAt: SQL): SQL => sql`case when ${startedAt} is not null then
  least(greatest(round(extract(epoch from (now() - ${startedAt})) * 1000), 0), ${maxDurationMs}::int)::int end`

/** Returns the ids of attempts that no longer belong to a worker, and of those to cancel. */
export async function checkAttempts(db: Db, worker: string, attempts: readonly Attempt[]) {
  const ids = attempts.map(({ id }) => id)
  const rows = await db
    .select({ id: runs.id, attempt: runs.attempt, cancel: runs.cancelRequested })
    .from(runs)
    .where(and(inArray(runs.id, ids), sql`${runs.worker} = ${worker}`, inArray(runs.status, ['PENDING', 'RUNNING'])))
  const current = new Map(rows.map((row) => [row.id, row]))
  return {
    lost: attempts
      .filter(({ id, attempt }) => (current.get(id)?.attempt ?? -1) > attempt || !current.has(id))
      .map(({ id }) => id),
    cancel: rows.filter(({ cancel }) => cancel).map(({ id }) => id),
  }
}

/** Returns an attempt to the queue where its tool may run again. */
export async function requeueAttempt(
  db: Db,
  { id, attempt }: Attempt,
  { label, withinMs, counts, definition }: GiveBackOptions,
): Promise<boolean> {
  const tool = definition == null ? null : storableJson(definition)
  const rows = rowsOfResult(
    await db.execute(sql`
      update tool_executions run set worker = null, lease_until = null, label = coalesce(label, ${label}),
        turn = coalesce(turn, 0), expires_at = ${after(withinMs)}, updated_at = now(),
        max_attempts = max_attempts + ${counts ? 0 : 1}::int, definition = coalesce(definition, ${tool}::json)
      where id = ${id}::uuid and attempt = ${attempt}::int and status = 'RUNNING' and not cancel_requested
        and ${counts ? sql`attempt < max_attempts` : sql`max_attempts > 1`}
        and (version is not null or definition is not null or ${tool}::json is not null)
      returning id`),
  )
  return rows.length > 0
}
