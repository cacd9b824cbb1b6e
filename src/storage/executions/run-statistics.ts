import { and, desc, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { RunStatistics, RunStatisticsQuery } from '../../contract/run-history.ts'
import type { Db } from '../database.ts'
import { toolExecutions as runs } from '../schema-runs.ts'
import { executionConditions } from './list.ts'

/** Counts the newest runs by span of time, and all of them. */
export async function selectRunStatistics(
  db: Db,
  workspace: string,
  { since, spanMs, maxRuns, tool, names }: RunStatisticsQuery,
): Promise<RunStatistics> {
  const { createdAt, status, durationMs } = runs
  const span = sql<number>`floor(extract(epoch from ${createdAt}) * 1000 / ${spanMs}::float8)::float8`.as('span')
  const recent = db
    .select({ span, status, durationMs })
    .from(runs)
    .where(and(...executionConditions(workspace, { since: since.toISOString(), tool, names })))
    .orderBy(desc(createdAt))
    .limit(maxRuns)
    .as('recent')
  const rows = await db
    .select({
      span: recent.span,
      runs: sql<number>`count(*)::int`,
      failed: sql<number>`(count(*) filter (where ${recent.status} in ('FAILED', 'TIMEOUT')))::int`,
      p50Ms: percentile(recent.durationMs, 0.5),
      p95Ms: percentile(recent.durationMs, 0.95),
    })
    .from(recent)
    .groupBy(sql`rollup (${recent.span})`)
    .orderBy(sql`${recent.span} nulls last`)
  const counts = rows.map(({ span: at, ...each }) => ({ at: at as number | null, counts: each }))
  const total = counts.find(({ at }) => at === null)?.counts ?? { runs: 0, failed: 0, p50Ms: null, p95Ms: null }
  const spans = counts.flatMap(({ at, counts: each }) =>
    at === null ? [] : [{ from: new Date(at * spanMs).toISOString(), ...each }],
  )
  return { total, spans }
}

const percentile = (column: SQLWrapper, part: number): SQL<number | null> =>
  sql<number | null>`(percentile_cont(${part}::float8) within group (order by ${column}))::float8`
