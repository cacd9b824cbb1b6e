import { getTableName, sql } from 'drizzle-orm'
import type { Database } from './database.ts'
import { dumpedTables } from './dump/write-dump.ts'
import { guard } from './guard.ts'
import { rowsOf } from './rows-of.ts'

/** The number of rows of each table. */
export async function countRows({ slow }: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of dumpedTables) {
    const result = await guard(() => slow.execute(sql`select count(*)::int as rows from ${table}`))
    counts[getTableName(table)] = rowsOf<{ rows: number }>(result)[0]?.rows ?? 0
  }
  return counts
}
