import { and, desc, eq, lt } from 'drizzle-orm'
import type { AuditEntry, AuditStore, Caller, Page, PageQuery } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { guard } from '../guard.ts'
import type { Cursors } from '../page.ts'
import { type Change, record } from '../record.ts'
import { auditEntries } from '../schema.ts'

/** The record of changes, newest first. */
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
    return guard(async (): Promise<Page<AuditEntry>> => {
      const cursors = await this.#cursors()
      const list = ['audit', workspace, subject]
      const place = cursors.read(list, cursor)
      const rows = await this.#db
        .select()
        .from(auditEntries)
        .where(
          and(
            eq(auditEntries.workspaceId, workspace),
            subject === undefined ? undefined : eq(auditEntries.subject, subject),
            place && lt(auditEntries.id, Number(place.value)),
          ),
        )
        .orderBy(desc(auditEntries.id))
        .limit(limit + 1)
      const shown = rows.slice(0, limit)
      const items = shown.map(toEntry)
      const last = shown.at(-1)
      if (rows.length <= limit || last === undefined) return { items }
      return { items, nextCursor: cursors.write(list, { value: last.id, id: '' }) }
    })
  }
}

/** The number of a row counts the changes of every workspace, so it is told to none. */
function toEntry({ id: _id, workspaceId: _workspace, at, ...rest }: typeof auditEntries.$inferSelect): AuditEntry {
  return { ...rest, at: at.toISOString() }
}
