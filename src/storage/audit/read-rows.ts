import { and, asc, gt, type SQL, sql } from 'drizzle-orm'
import type { HashedRow } from '../../contract/audit.ts'
import type { Db } from '../database.ts'
import { auditEntries } from '../schema.ts'

const pageRows = 200

/** Reads rows in the order in which they were written, page by page, without a transaction: rows are only ever added. */
export async function* readRows(
  db: Db,
  where?: SQL,
  run: <Result>(query: () => Promise<Result>) => Promise<Result> = (query) => query(),
): AsyncGenerator<readonly (HashedRow & { readonly id: number })[]> {
  for (let last = 0; ; ) {
    const isNext = and(where, gt(auditEntries.id, last))
    const rows = await run(() =>
      db.select(columns).from(auditEntries).where(isNext).orderBy(asc(auditEntries.id)).limit(pageRows).execute(),
    )
    if (rows.length === 0) return
    last = rows.at(-1)?.id ?? last
    yield rows.map((row) => ({ ...row, at: row.at.toISOString() }))
  }
}

/** Named one by one, because a migration reads the table before later migrations change it. */
const columns = {
  id: auditEntries.id,
  workspace: auditEntries.workspaceId,
  sequence: auditEntries.sequence,
  previousHash: auditEntries.previousHash,
  hash: auditEntries.hash,
  at: auditEntries.at,
  actor: auditEntries.actor,
  action: auditEntries.action,
  subject: auditEntries.subject,
  requestId: auditEntries.requestId,
  // The texts that hashes cover.
  before: sql<string | null>`${auditEntries.before}::text`,
  after: sql<string | null>`${auditEntries.after}::text`,
}
