import { sql } from 'drizzle-orm'
import type { QueueState } from '../../contract/execution.ts'
import type { WorkerInfo, WorkerState } from '../../contract/run.ts'
import { type Db, rowsOfResult } from '../database.ts'
import { after } from './create.ts'

// A dead process is listed for this long.
const listedMs = 600_000

/** Renews the lease of a worker; the first renewal adds it to the list. */
export async function renewLease(db: Db, info: WorkerInfo, leaseMs: number): Promise<void> {
  const { worker, kind, version, executors, labels, slots, takesWork, draining } = info
  await db.execute(sql`
    insert into workers (name, kind, version, executors, labels, slots, takes_work, draining, lease_until)
    values (${worker}, ${kind}, ${version}, ${JSON.stringify(executors)}::jsonb, ${JSON.stringify(labels)}::jsonb,
      ${slots}::int, ${takesWork}::boolean, ${draining}::boolean, ${after(leaseMs)})
    on conflict (name) do update set seen_at = now(), lease_until = excluded.lease_until, draining = excluded.draining`)
}

/** Removes a stopped worker from the list, unless one of its runs is still to be swept. */
export async function removeWorker(db: Db, worker: string): Promise<void> {
  await db.execute(sql`delete from workers where name = ${worker} and ${isIdle}`)
}

const isIdle = sql`not exists (select 1 from tool_executions run
  where run.worker = workers.name and run.status in ('PENDING', 'RUNNING'))`

/** Removes workers whose lease ended long ago. */
export async function pruneWorkers(db: Db): Promise<void> {
  await db.execute(sql`delete from workers
    where lease_until < now() - ${listedMs}::float8 * interval '1 millisecond' and ${isIdle}`)
}

interface Row {
  readonly name: string
  readonly kind: WorkerState['kind']
  readonly version: string
  readonly executors: string
  readonly labels: string
  readonly slots: number
  readonly takes_work: boolean
  readonly draining: boolean
  readonly started: string | number
  readonly seen: string | number
  readonly alive: boolean
  readonly running: number
}

/** All workers, each with the number of its runs in a workspace. */
export async function listWorkers(db: Db, workspace: string): Promise<readonly WorkerState[]> {
  const rows = rowsOfResult<Row>(
    await db.execute(sql`select name, kind, version, executors::text, labels::text, slots, takes_work, draining,
        (extract(epoch from started_at) * 1000)::float8 as started, (extract(epoch from seen_at) * 1000)::float8 as seen,
        lease_until > now() as alive,
        (select count(*)::int from tool_executions run where run.worker = workers.name and run.status = 'RUNNING'
          and run.workspace_id = ${workspace}) as running
      from workers order by name`),
  )
  return rows.map((row) => ({
    worker: row.name,
    kind: row.kind,
    version: row.version,
    executors: JSON.parse(row.executors) as string[],
    labels: JSON.parse(row.labels) as string[],
    slots: row.slots,
    takesWork: row.takes_work,
    draining: row.draining,
    running: row.running,
    startedAt: new Date(Number(row.started)).toISOString(),
    lastSeenAt: new Date(Number(row.seen)).toISOString(),
    alive: row.alive,
  }))
}

/** The waiting and running executions of a workspace. */
export async function selectQueueState(db: Db, workspace: string): Promise<QueueState> {
  const [counts] = rowsOfResult<{ queued: number; approval: number; running: number; oldest: number | null }>(
    await db.execute(sql`select
      (count(*) filter (where status = 'PENDING' and reason = 'queued'))::int as queued,
      (count(*) filter (where status = 'PENDING' and reason = 'approval'))::int as approval,
      (count(*) filter (where status = 'RUNNING'))::int as running,
      (extract(epoch from now() - min(created_at) filter (where status = 'PENDING' and reason = 'queued')) * 1000)::float8
        as oldest
      from tool_executions where workspace_id = ${workspace} and status in ('PENDING', 'RUNNING')`),
  )
  const { queued = 0, approval = 0, running = 0, oldest = null } = counts ?? {}
  return {
    queued,
    waitingForApproval: approval,
    running,
    oldestQueuedMs: oldest === null ? null : Math.round(Number(oldest)),
    workers: await listWorkers(db, workspace),
  }
}
