import { and, desc, eq, lt } from 'drizzle-orm'
import type { AuditEntry, AuditStore, Caller, Page, PageQuery } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { guard } from '../guard.ts'
import type { Cursors } from '../page.ts'
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
    return guard(async (): Promise<Page<AuditEntry>> => {
      const cursors = await this.#cursors()
      const list = ['audit', workspace, subject]
      const position = cursors.read(list, cursor)
      const rows = await this.#db
        .select()
        .from(auditEntries)
        .where(
          and(
            eq(auditEntries.workspaceId, workspace),
            subject === undefined ? undefined : eq(auditEntries.subject, subject),
            position && lt(auditEntries.id, Number(position.value)),
          ),
        )
        .orderBy(desc(auditEntries.id))
        .limit(limit + 1)
      const page = rows.slice(0, limit)
      const items = page.map(toEntry)
      const last = page.at(-1)
      if (rows.length <= limit || last === undefined) return { items }
      return { items, nextCursor: cursors.write(list, { value: last.id, id: '' }) }
    })
  }
}

/** Omits the row number, which would reveal the number of changes in other workspaces. */
function toEntry({ id: _id, workspaceId: _workspace, at, ...rest }: typeof auditEntries.$inferSelect): AuditEntry {
  return { ...rest, at: at.toISOString() }
}
