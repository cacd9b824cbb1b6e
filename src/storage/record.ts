import { eq, sql } from 'drizzle-orm'
import { yieldTurns } from '../base/yield-turns.ts'
import type { Caller } from '../contract/stores.ts'
import type { Db } from './database.ts'
import { auditEntries, workspaces } from './schema.ts'

/** One entry of the audit log. */
export interface Change {
  readonly action: string
  readonly subject: string
  readonly before?: unknown
  readonly after?: unknown
}

/** The channel for notices about changes of the offered tools. */
export const changeChannel = 'tooldex_changes'

// The embedded engine may run on this thread, so long statements would block the event loop.
const batch = 100

/** Writes an audit entry, in the same transaction as its change. */
export async function record(db: Db, caller: Caller, change: Change): Promise<void> {
  await db.insert(auditEntries).values(toEntry(caller, change))
}

/** Writes an audit entry of a change of the offered tools, and announces the change. */
export async function recordOffered(db: Db, caller: Caller, change: Change): Promise<void> {
  await record(db, caller, change)
  await announce(db, caller.workspace)
}

/** Writes many audit entries in batches. */
export async function recordMany(db: Db, caller: Caller, changes: readonly Change[]): Promise<void> {
  const turn = yieldTurns()
  for (let start = 0; start < changes.length; start += batch) {
    await db.insert(auditEntries).values(changes.slice(start, start + batch).map((change) => toEntry(caller, change)))
    await turn()
  }
}

function toEntry({ workspace, actor, requestId }: Caller, { action, subject, before = null, after = null }: Change) {
  return { workspaceId: workspace, actor, action, subject, before, after, requestId: requestId ?? null }
}

/** Announces a change of the offered tools; delivered when the transaction commits. */
export async function announce(db: Db, workspace: string): Promise<void> {
  await db
    .update(workspaces)
    .set({ changes: sql`${workspaces.changes} + 1` })
    .where(eq(workspaces.id, workspace))
  await db.execute(sql`select pg_notify(${changeChannel}, ${workspace})`)
}
