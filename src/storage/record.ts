import { eq, sql } from 'drizzle-orm'
import type { Caller } from '../contract/stores.ts'
import { addPending } from './audit/chain-entries.ts'
import type { Db } from './database.ts'
import { transact } from './guard.ts'
import { workspaces } from './schema.ts'

/** One entry of the audit log. */
export interface Change {
  readonly action: string
  readonly subject: string
  readonly before?: unknown
  readonly after?: unknown
}

/** The channel for notices about changes of the offered tools. */
export const changeChannel = 'tooldex_changes'

/** Writes an audit entry, in the same transaction as its change. */
export const record = (db: Db, caller: Caller, change: Change): Promise<void> => recordChanges(db, caller, [change])

/** Writes an audit entry of a change of the offered tools, and announces the change. */
export async function recordOfferedChange(db: Db, caller: Caller, change: Change): Promise<void> {
  await record(db, caller, change)
  await announceToolChange(db, caller.workspace)
}

/** Writes many audit entries: at the end of the transaction, or now in one of their own. */
export async function recordChanges(db: Db, caller: Caller, changes: readonly Change[]): Promise<void> {
  const entries = changes.map((change) => toEntry(caller, change))
  if (!addPending(db, entries)) await transact(db, async (inner) => void addPending(inner, entries))
}

function toEntry({ workspace, actor, requestId }: Caller, { action, subject, before = null, after = null }: Change) {
  return { workspace, actor, action, subject, before, after, requestId: requestId ?? null }
}

/** Announces a change of the offered tools; delivered when the transaction commits. */
export async function announceToolChange(db: Db, workspace: string): Promise<void> {
  await db
    .update(workspaces)
    .set({ changes: sql`${workspaces.changes} + 1` })
    .where(eq(workspaces.id, workspace))
  await db.execute(sql`select pg_notify(${changeChannel}, ${workspace})`)
}
