import { sql } from 'drizzle-orm'
import type { QueueState } from '../../contract/execution.ts'
import type { Db } from '../database.ts'
import { rowsOf } from '../rows-of.ts'
import { listWorkers } from './workers.ts'

/** The waiting and running executions of a workspace. */
export async function selectQueue(db: Db, workspace: string): Promise<QueueState> {
  const [counts] = rowsOf<{ queued: number; approval: number; running: number; oldest: number | null }>(
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
