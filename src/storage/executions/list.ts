import { and, asc, desc, eq, getTableColumns, gte, inArray, isNull, lt, type SQL, sql } from 'drizzle-orm'
import type { Execution, ExecutionQuery, ExecutionSummary } from '../../contract/execution.ts'
import type { Page } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { type Cursors, isBeyondPosition, readRowPage } from '../page.ts'
import { isUuid } from '../rows.ts'
import { executionResults, toolExecutions as runs, toolExecutions } from '../schema-runs.ts'
import { toExecution } from './rows.ts'

// Potentially large columns are not read, so that lists stay fast.
const {
  inputData: _input,
  outputData: _output,
  stdout: _out,
  stderr: _err,
  definition: _definition,
  ...short
} = getTableColumns(toolExecutions)
const { content: _content, ...about } = getTableColumns(executionResults)
const omitted = { inputData: null, outputData: null, stdout: '', stderr: '', definition: null }

/** A page of runs, by default newest first. */
export function selectExecutions(
  db: Db,
  cursors: Cursors,
  workspace: string,
  query: ExecutionQuery,
): Promise<Page<ExecutionSummary>> {
  const { limit, cursor, ...filters } = query
  const { createdAt: column, id } = toolExecutions
  const order = filters.sort === 'createdAt' ? 'asc' : 'desc'
  return readRowPage(cursors, {
    list: ['executions', workspace, { ...filters, names: filters.names && [...filters.names] }],
    limit,
    cursor,
    read: (position, maxRows) =>
      db
        .select({ run: short, result: about })
        .from(toolExecutions)
        .leftJoin(executionResults, eq(executionResults.executionId, id))
        .where(and(...executionConditions(workspace, filters), isBeyondPosition(position, { column, id, order })))
        .orderBy(...[column, id].map(order === 'asc' ? asc : desc))
        .limit(maxRows),
    toItem({ run, result }) {
      const { inputData: _in, outputData: _out, logs: _logs, ...summary } = toExecution({ ...omitted, ...run }, result)
      return summary
    },
    toPosition: ({ run }) => ({ value: run.createdAt, id: run.id }),
  })
}

/** The conditions of a query. */
export function executionConditions(
  workspace: string,
  query: Omit<ExecutionQuery, 'limit'>,
): readonly (SQL | undefined)[] {
  const { toolId, tool, names, purpose, status, caller, callerLabel, trace, parent, since, until } = query
  return [
    eq(toolExecutions.workspaceId, workspace),
    toolId === undefined ? undefined : isUuid(toolId) ? eq(toolExecutions.toolId, toolId) : sql`false`,
    tool === undefined ? undefined : eq(toolExecutions.toolName, tool),
    names === undefined ? undefined : names.size === 0 ? sql`false` : inArray(toolExecutions.toolName, [...names]),
    purpose === 'replay' ? eq(toolExecutions.purpose, purpose) : isNull(toolExecutions.purpose),
    status?.length ? inArray(toolExecutions.status, [...status]) : undefined,
    caller === undefined ? undefined : eq(toolExecutions.callerId, caller),
    callerLabel === undefined ? undefined : eq(toolExecutions.callerLabel, callerLabel),
    trace === undefined ? undefined : eq(toolExecutions.traceId, trace),
    parent === undefined ? undefined : isUuid(parent) ? eq(toolExecutions.parentId, parent) : sql`false`,
    since === undefined ? undefined : gte(toolExecutions.createdAt, new Date(since)),
    until === undefined ? undefined : lt(toolExecutions.createdAt, new Date(until)),
  ]
}

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
