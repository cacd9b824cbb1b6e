import { sql } from 'drizzle-orm'
import type { ExecutionStatus, Retention, Swept, UnattendedEnd } from '../../contract/execution.ts'
import type { SweepingWorker } from '../../contract/run.ts'
import { pruneLimitCounters } from '../access/limit-counters.ts'
import { type Db, rowsOfResult } from '../database.ts'
import { tookMs } from './finish.ts'
import { runChannel } from './notices.ts'
import { pruneWorkers } from './workers.ts'

// A run without any lease is assumed alive for this long.
const silentMs = 60_000
// A process that did not receive the response to its claim has timed out by then, so it does not run the claimed run.
const unheardMs = 30_000
const batch = 1000
// Small batches keep every statement short.
const pruneBatch = 2000
// The minimum time that a retried run waits for a worker; otherwise its own deadline.
const minRetryMs = 30_000
const maxOutput = 1_000_000

/** The published output of a lost run, which its own process can no longer report. */
const publishedOutput = (stream: 'stdout' | 'stderr') => sql`coalesce((
  select left(string_agg(event.text, '' order by event.seq), ${maxOutput}::int) from execution_events event
  where event.execution_id = run.id and event.attempt = run.attempt and event.stream = ${stream}), '')`

/** The worker label of a run that was started by its server. */
const labelOfTool = sql`coalesce(run.definition -> 'executorConfig' ->> 'worker', (select executor_config ->> 'worker'
  from tool_versions where tool_id = run.tool_id and tool_versions.version = run.version), '')`

/** Ends runs of lost workers and runs that waited too long; runs that may be retried return to the queue. */
export async function sweepExecutions(
  db: Db,
  { worker: self, runs }: SweepingWorker = { worker: '', runs: [] },
): Promise<{ readonly swept: Swept; readonly ends: readonly UnattendedEnd[] }> {
  const rows = rowsOfResult<SweptRow>(
    await db.execute(sql`
      with dead as materialized (
        -- A worker that renews its lease at this moment waits, and then finds that its runs were taken.
        select name from workers where lease_until < now() for update skip locked
      ), stale as materialized (
        select id from tool_executions run where status in ('PENDING', 'RUNNING')
          and (worker is not null or label is null)
          and (worker in (select name from dead)
            or (worker = ${self} and updated_at < now() - ${unheardMs}::int * interval '1 millisecond')
            or (not exists (select 1 from workers where name = run.worker)
            and coalesce(lease_until, coalesce(started_at, created_at) + ${silentMs}::int * interval '1 millisecond') < now()))
          and id not in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(runs)}::jsonb))
        limit ${batch}::int for update skip locked
      ), late as materialized (
        select id from tool_executions where status in ('PENDING', 'RUNNING') and worker is null and label is not null
          and (expires_at < now() or cancel_requested)
        limit ${batch}::int for update skip locked
      ), retried as (
        update tool_executions run set worker = null, lease_until = null, label = coalesce(label, ${labelOfTool}),
          turn = coalesce(turn, 0), expires_at = now() + greatest(run.timeout_ms, ${minRetryMs}::int) * interval '1 millisecond', updated_at = now()
        from stale where run.id = stale.id and run.status = 'RUNNING' and run.attempt < run.max_attempts
          and not run.cancel_requested and (run.version is not null or run.definition is not null)
        returning ${affected}
      ), lost as (
        update tool_executions run set completed_at = now(), updated_at = now(), lease_until = null,
          status = (case when run.status = 'PENDING' or run.cancel_requested then 'CANCELLED' else 'FAILED' end)::execution_status,
          duration_ms = ${tookMs(sql`run.started_at`)},
          stdout = ${publishedOutput('stdout')}, stderr = ${publishedOutput('stderr')},
          error_code = case when run.status = 'PENDING' then 'CALLER_LOST' when run.cancel_requested
            then 'EXECUTION_CANCELLED' else 'WORKER_LOST' end,
          error_message = case when run.status = 'PENDING'
            then 'The process that received the call ended before the tool was started.'
            else 'The process that ran the tool ended or lost its connection to the database before the end of the run.' end
        from stale where run.id = stale.id and run.id not in (select id from retried)
        returning ${affected}
      ), expired as (
        update tool_executions run set completed_at = now(), updated_at = now(),
          status = (case when run.status = 'PENDING' or run.cancel_requested then 'CANCELLED' else 'FAILED' end)::execution_status,
          error_code = case when run.cancel_requested then 'EXECUTION_CANCELLED' when run.status = 'RUNNING'
            then 'WORKER_LOST' when run.reason = 'approval' then 'APPROVAL_EXPIRED' else 'QUEUE_EXPIRED' end,
          error_message = case when run.cancel_requested then 'The run was cancelled.' when run.status = 'RUNNING'
            then 'The process that ran the tool was lost, and no other process took over the run in time.'
            when run.reason = 'approval' then 'Nobody approved the call in time.'
            else 'No worker took the call in time.' end
        from late where run.id = late.id returning ${affected}
      ), affected as (
        select 'retried' as outcome, * from retried union all select 'lost', * from lost
        union all select 'expired', * from expired
      )
      select *, pg_notify(${runChannel}, (case outcome when 'retried' then 'queued:' else 'changed:' end) || id)
      from affected`),
  )
  const of = (outcome: keyof Swept) => rows.filter((row) => row.outcome === outcome).map(({ id }) => id)
  const swept = { lost: of('lost'), retried: of('retried'), expired: of('expired') }
  return { swept, ends: rows.filter(({ outcome }) => outcome !== 'retried').map(toEnd) }
}

interface SweptRow {
  readonly id: string
  readonly outcome: keyof Swept
  readonly workspace_id: string
  readonly tool_name: string
  readonly status: ExecutionStatus
  readonly error_code: string | null
}

const affected = sql`run.id, run.workspace_id, run.tool_name, run.status, run.error_code`

const toEnd = ({
  workspace_id: workspace,
  tool_name: toolName,
  status,
  error_code: errorCode,
}: SweptRow): UnattendedEnd => ({
  workspace,
  toolName,
  status,
  errorCode,
})

// Followers of a finished run still receive its last output.
const eventLifeMs = 60_000

/** Deletes a batch of runs beyond the retention limits, expired outputs and published output of finished runs. */
export async function pruneExecutions(db: Db, { days, maxRows, eventsMs = eventLifeMs }: Retention): Promise<number> {
  await db.execute(sql`delete from execution_events where execution_id in (
    select id from tool_executions where id in (select execution_id from execution_events)
      and status not in ('PENDING', 'RUNNING')
      and coalesce(completed_at, updated_at) <= now() - ${eventsMs}::float8 * interval '1 millisecond'
    limit ${pruneBatch}::int)`)
  await db.execute(sql`delete from execution_results where id in (
    select id from execution_results where expires_at < now() limit ${pruneBatch}::int)`)
  await pruneWorkers(db)
  await pruneLimitCounters(db)
  const old = rowsOfResult<{ id: string }>(
    await db.execute(sql`delete from tool_executions where id in (
      select id from tool_executions where created_at < now() - ${days}::float8 * interval '1 day'
        and status not in ('PENDING', 'RUNNING') order by created_at limit ${pruneBatch}::int) returning id`),
  )
  const many = rowsOfResult<{ id: string }>(
    await db.execute(sql`delete from tool_executions where id in (
      select e.id from workspaces w cross join lateral (
        select id from tool_executions where workspace_id = w.id and status not in ('PENDING', 'RUNNING')
        order by created_at desc, id desc offset ${maxRows}::int limit ${pruneBatch}::int) e limit ${pruneBatch}::int)
      returning id`),
  )
  return old.length + many.length
}
