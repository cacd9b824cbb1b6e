import { and, inArray, sql } from 'drizzle-orm'
import { storableJson } from '../../base/storable.ts'
import type { Attempt, GiveBackOptions } from '../../contract/execution.ts'
import type { Db } from '../database.ts'
import { rowsOf } from '../rows-of.ts'
import { toolExecutions as runs } from '../schema-runs.ts'
import { after } from './create.ts'

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
export async function giveBack(
  db: Db,
  { id, attempt }: Attempt,
  { label, withinMs, counts, definition }: GiveBackOptions,
): Promise<boolean> {
  const tool = definition == null ? null : storableJson(definition)
  const rows = rowsOf(
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
