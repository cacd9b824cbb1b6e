import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import type { Execution } from '../../contract/execution.ts'
import type { Db } from '../database.ts'
import { toolExecutions as runs } from '../schema-runs.ts'
import { toExecution } from './rows.ts'

interface SampleQuery {
  readonly workspace: string
  readonly toolId: string
  readonly version: number
  readonly limit: number
}

/** The newest successful runs of a version, without repeated inputs, independent of the order of their keys. */
export async function readSamples(db: Db, query: SampleQuery): Promise<readonly Execution[]> {
  const { workspace, toolId, version, limit } = query
  const input = sql`md5(${runs.inputData}::jsonb::text)`
  const newest = db
    .selectDistinctOn([input])
    .from(runs)
    .where(
      and(
        eq(runs.workspaceId, workspace),
        eq(runs.toolId, toolId),
        eq(runs.version, version),
        eq(runs.status, 'SUCCESS'),
        isNull(runs.purpose),
      ),
    )
    .orderBy(input, desc(runs.createdAt))
    .as('newest')
  const rows = await db.select().from(newest).orderBy(desc(newest.createdAt)).limit(limit)
  return rows.map((row) => toExecution(row))
}
