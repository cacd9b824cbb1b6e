import { and, desc, eq, gt, isNull, lt, or } from 'drizzle-orm'
import type { AuditEntry, AuditStore } from '../../contract/audit.ts'
import type { Caller, PageQuery } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { guard } from '../guard.ts'
import { type Cursors, readRowPage } from '../page.ts'
import { type Change, record } from '../record.ts'
import { auditEntries, auditHeads } from '../schema.ts'
import { readAuditRows } from './chain-entries.ts'

/** The audit log: newest first in lists, oldest first as a chain. */
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
      readRowPage(await this.#cursors(), {
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

  head(workspace: string) {
    return guard(async () => {
      const [head] = await this.#db.select().from(auditHeads).where(eq(auditHeads.workspaceId, workspace))
      return head === undefined ? undefined : { sequence: head.sequence, hash: head.hash }
    })
  }

  async *chain(workspace: string, after = 0) {
    const isLater = after === 0 ? undefined : or(gt(auditEntries.sequence, after), isNull(auditEntries.sequence))
    const own = and(eq(auditEntries.workspaceId, workspace), isLater)
    for await (const rows of readAuditRows(this.#db, own, guard)) yield rows.map(({ id: _id, ...row }) => row)
  }
}

/** Omits the row number, which would reveal the number of changes in other workspaces. */
function toEntry({
  id: _id,
  workspaceId: _workspace,
  previousHash: _previous,
  at,
  ...rest
}: typeof auditEntries.$inferSelect): AuditEntry {
  return { ...rest, at: at.toISOString() }
}
