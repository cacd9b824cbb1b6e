import { and, desc, eq, lt } from 'drizzle-orm'
import type { AuditEntry, AuditStore, Caller, PageQuery } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { guard } from '../guard.ts'
import { type Cursors, readPage } from '../page.ts'
import { type Change, record } from '../record.ts'
import { auditEntries } from '../schema.ts'

/** The audit log, newest first. */
export class DatabaseAuditStore implements AuditStore {
  readonly #db: Db
  readonly #cursors: () => Promise<Cursors>

  constructor(db: Db, cursors: () => Promise<Cursors>) {
    this.#db = db
    this.#cursors = cursors
  }

  add(caller: Caller, entry: Change) {
    return guard(() => record(this.#db, caller, entry))
  }

  list(workspace: string, { limit, cursor, subject }: PageQuery & { readonly subject?: string | undefined }) {
    const own = [
      eq(auditEntries.workspaceId, workspace),
      subject === undefined ? undefined : eq(auditEntries.subject, subject),
    ]
    return guard(async () =>
      readPage(await this.#cursors(), {
        list: ['audit', workspace, subject],
        limit,
        cursor,
        read: (position, maxRows) =>
          this.#db
            .select()
            .from(auditEntries)
            .where(and(...own, position && lt(auditEntries.id, Number(position.value))))
            .orderBy(desc(auditEntries.id))
            .limit(maxRows),
        toItem: toEntry,
        toPosition: ({ id }) => ({ value: id, id: '' }),
      }),
    )
  }
}

/** Omits the row number, which would reveal the number of changes in other workspaces. */
function toEntry({ id: _id, workspaceId: _workspace, at, ...rest }: typeof auditEntries.$inferSelect): AuditEntry {
  return { ...rest, at: at.toISOString() }
}
