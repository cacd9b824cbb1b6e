import type { Db } from '../database.ts'
import { appendEntries, type NewEntry } from './append-entries.ts'

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
