import { and, asc, eq, gt, type SQL, sql } from 'drizzle-orm'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { ChainHead, HashedRow } from '../../contract/audit.ts'
import { chainStart, hashRow } from '../../rules/audit-chain.ts'
import { type Db, rowsOfResult } from '../database.ts'
import { auditEntries, auditHeads } from '../schema.ts'

/** An entry that is not in the chain yet. */
interface NewEntry {
  readonly workspace: string
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly before: unknown
  readonly after: unknown
  readonly requestId: string | null
}

// The embedded engine may run on this thread, so long statements would block the event loop.
const batch = 100

/**
 * Appends entries to the chains of their workspaces. The head of a chain is locked until the transaction ends, so this is the last
 * statement of a transaction: the order of the chain is the order of the commits, and no other lock is waited for while it is held.
 */
async function appendEntries(db: Db, entries: readonly NewEntry[]): Promise<void> {
  // All transactions lock several chains in the same order.
  const workspaces = [...new Set(entries.map(({ workspace }) => workspace))].sort()
  for (const workspace of workspaces) {
    const own = entries.filter((entry) => entry.workspace === workspace)
    await appendTo(db, workspace, own)
  }
}

async function appendTo(db: Db, workspace: string, entries: readonly NewEntry[]): Promise<void> {
  const { at, ...head } = await moveHead(db, workspace, entries.length)
  const turn = yieldTurns()
  let last: ChainHead = head
  for (let start = 0; start < entries.length; start += batch) {
    const rows: (typeof auditEntries.$inferInsert)[] = []
    for (const entry of entries.slice(start, start + batch)) {
      const { row, ...next } = toRow(entry, last, at)
      rows.push(row)
      last = next
    }
    const isLast = start + batch >= entries.length
    // Both statements are sent at once.
    await Promise.all([
      db.insert(auditEntries).values(rows),
      ...(isLast ? [db.update(auditHeads).set({ hash: last.hash }).where(eq(auditHeads.workspaceId, workspace))] : []),
    ])
    await turn()
  }
}

/** Locks the head, reserves the next numbers, and returns the last row and the time of the database. */
async function moveHead(db: Db, workspace: string, count: number): Promise<ChainHead & { readonly at: string }> {
  const [head] = rowsOfResult<{ sequence: string | number; hash: string; at: string }>(
    await db.execute(sql`insert into audit_heads as head (workspace_id, sequence, hash)
      values (${workspace}, ${count}, ${chainStart})
      on conflict (workspace_id) do update set sequence = head.sequence + ${count}
      returning sequence, hash,
        to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`),
  )
  const { sequence, hash, at } = head as NonNullable<typeof head>
  return { sequence: Number(sequence) - count, hash, at }
}

function toRow({ workspace, ...entry }: NewEntry, last: ChainHead, at: string) {
  const [before, after] = [toJson(entry.before), toJson(entry.after)]
  const sequence = last.sequence + 1
  const hash = hashRow({ ...entry, workspace, sequence, previousHash: last.hash, at, before, after })
  const row = {
    ...entry,
    workspaceId: workspace,
    at: new Date(at),
    before: asJson(before),
    after: asJson(after),
    sequence,
    previousHash: last.hash,
    hash,
  }
  return { row, sequence, hash }
}

const toJson = (value: unknown): string | null => (value == null ? null : JSON.stringify(value))
/** Exactly this text, which the hash covers. */
const asJson = (json: string | null) => (json === null ? null : sql`${json}::text::json`)

/** The entries of open transactions, which are written as their last statement. */
const pending = new WeakMap<Db, NewEntry[]>()

/** Adds entries to an open transaction; false outside of one. */
export function addPending(db: Db, entries: readonly NewEntry[]): boolean {
  const list = pending.get(db)
  for (const entry of entries) list?.push(entry)
  return list !== undefined
}

/** Runs the work of a transaction, then writes its entries; a nested transaction hands them to the outer one. */
export async function withPending<Result>(outer: Db, db: Db, work: (db: Db) => Promise<Result>): Promise<Result> {
  const entries: NewEntry[] = []
  pending.set(db, entries)
  const result = await work(db)
  if (entries.length > 0 && !addPending(outer, entries)) await appendEntries(db, entries)
  return result
}

/** Chains the rows that were written before there was a chain; part of the migration that adds it. */
export async function chainExistingRows(db: Db): Promise<void> {
  const heads = new Map<string, ChainHead>()
  const turn = yieldTurns()
  for await (const rows of readAuditRows(db)) {
    const links = rows.map(({ id, ...row }) => {
      const { sequence: last, hash: previousHash } = heads.get(row.workspace) ?? { sequence: 0, hash: chainStart }
      const sequence = last + 1
      const hash = hashRow({ ...row, sequence, previousHash })
      heads.set(row.workspace, { sequence, hash })
      return { id, sequence, previousHash, hash }
    })
    await db.execute(sql`update audit_entries row
      set sequence = link.sequence, previous_hash = link."previousHash", hash = link.hash
      from json_to_recordset(${JSON.stringify(links)}::text::json)
        as link (id bigint, sequence bigint, "previousHash" text, hash text)
      where row.id = link.id`)
    await turn()
  }
  for (const [workspaceId, head] of heads) await db.insert(auditHeads).values({ workspaceId, ...head })
}

const pageRows = 200

/** Reads rows in the order in which they were written, page by page, without a transaction: rows are only ever added. */
export async function* readAuditRows(
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
