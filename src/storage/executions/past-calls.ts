import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import type { PastCall, PastCallQuery } from '../../contract/run-history.ts'
import type { Db } from '../database.ts'
import { guard } from '../guard.ts'
import { type CursorPosition, isBeyondPosition } from '../page.ts'
import { toolExecutions as runs } from '../schema-runs.ts'
import { executionConditions } from './list.ts'

const pageRows = 500

/** Reads recorded calls newest first, page by page. */
export async function* readPastCalls(
  db: Db,
  workspace: string,
  { toolset, ...query }: PastCallQuery,
): AsyncGenerator<readonly PastCall[]> {
  const { createdAt: column, id, toolId, toolName, version, callerId, callerGroups } = runs
  const isInToolset = toolset === undefined ? undefined : sql`${runs.toolsets} @> ${JSON.stringify([toolset])}::jsonb`
  let last: CursorPosition | undefined
  for (;;) {
    const where = and(...executionConditions(workspace, query), isInToolset, isBeyondPosition(last, { column, id }))
    const rows = await guard(() =>
      db
        .select({ id, toolId, toolName, version, callerId, callerGroups, createdAt: column })
        .from(runs)
        .where(where)
        .orderBy(desc(column), desc(id))
        .limit(pageRows)
        .execute(),
    )
    if (rows.length === 0) return
    const end = rows.at(-1)
    last = end && { value: end.createdAt, id: end.id }
    yield rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }))
    if (rows.length < pageRows) return
  }
}

/** The inputs of recorded calls by id, as JSON texts. */
export async function readPastInputs(
  db: Db,
  workspace: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await guard(() =>
    db
      .select({ id: runs.id, input: sql<string>`${runs.inputData}::text` })
      .from(runs)
      .where(and(eq(runs.workspaceId, workspace), inArray(runs.id, [...ids])))
      .execute(),
  )
  return new Map(rows.map(({ id, input }) => [id, input]))
}
