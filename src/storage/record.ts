import { setImmediate as nextTurn } from 'node:timers/promises'
import { eq, sql } from 'drizzle-orm'
import type { Caller } from '../contract/stores.ts'
import type { Db } from './database.ts'
import { auditEntries, workspaces } from './schema.ts'

/** One change for the record. */
export interface Change {
  readonly action: string
  readonly subject: string
  readonly before?: unknown
  readonly after?: unknown
}

/** The channel on which processes tell each other of changes. */
export const changeChannel = 'tooldex_changes'

// The embedded engine works in this very thread, and others want their turn.
const batch = 100

/** Writes a change down; in the transaction that makes it, so that neither is there without the other. */
export async function record(db: Db, caller: Caller, change: Change): Promise<void> {
  await db.insert(auditEntries).values(toEntry(caller, change))
}

/** Writes many changes down, many to a statement. */
export async function recordMany(db: Db, caller: Caller, changes: readonly Change[]): Promise<void> {
  for (let start = 0; start < changes.length; start += batch) {
    await db.insert(auditEntries).values(changes.slice(start, start + batch).map((change) => toEntry(caller, change)))
    await nextTurn()
  }
}

function toEntry({ workspace, actor, requestId }: Caller, { action, subject, before = null, after = null }: Change) {
  return { workspaceId: workspace, actor, action, subject, before, after, requestId: requestId ?? null }
}

/** Says that what the catalog shows has changed; heard when the transaction is through. */
export async function announce(db: Db, workspace: string): Promise<void> {
  await db
    .update(workspaces)
    .set({ changes: sql`${workspaces.changes} + 1` })
    .where(eq(workspaces.id, workspace))
  await db.execute(sql`select pg_notify(${changeChannel}, ${workspace})`)
}
