import { and, eq, gt, inArray, type SQL, sql } from 'drizzle-orm'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { OfferedChanges, OfferedTool, OfferedTools } from '../../contract/registry.ts'
import { type Db, rowsOfResult } from '../database.ts'
import { toTool } from '../rows.ts'
import { toolCategories, tools } from '../schema.ts'

// The embedded engine may run on this thread: a page of this many tools blocks the event loop for about 50 ms.
const pageRows = 250
/** The number of rows from which statistics matter. */
const rowsBeforeLook = 4 * pageRows
/** With more changes than this, all tools are read. */
const maxChanges = 250

/** Every active tool by name, page by page; concurrent changes appear in the next read. */
export async function listOffered(db: Db, workspace: string): Promise<OfferedTools> {
  const all: OfferedTool[] = []
  const turn = yieldTurns()
  const [now] = rowsOfResult<{ seen: string }>(await db.execute(sql`select ${horizon} as seen`))
  const offered = and(eq(tools.workspaceId, workspace), eq(tools.status, 'ACTIVE'))
  for (;;) {
    const last = all.at(-1)?.tool.name
    const page = await readPage(db, last === undefined ? offered : and(offered, gt(tools.name, last)))
    all.push(...page)
    if (all.length === rowsBeforeLook) await keepStatistics(db, all.length)
    if (page.length < pageRows) return { tools: all, seen: now?.seen ?? '' }
    await turn()
  }
}

/**
 * The embedded engine has no autovacuum: without statistics every page would sort all tools, and so would other lists. An engine with
 * autovacuum may not have looked at new rows yet.
 */
async function keepStatistics(db: Db, rows: number): Promise<void> {
  const [known] = rowsOfResult<{ rows: number }>(
    await db.execute(sql`select reltuples::float8 as rows from pg_class where oid = 'tools'::regclass`),
  )
  if (Number(known?.rows ?? rows) * 2 >= rows) return
  await db.execute(sql`analyze tools (workspace_id, name, status, category_id, updated_at)`)
}

/** The changes since a transaction id, not a time, so that no change is missed however long its transaction took. */
export async function listOfferedSince(db: Db, workspace: string, seen: string): Promise<OfferedChanges> {
  const [row] = rowsOfResult<{ seen: string; active: number; named: boolean; ids: readonly string[] | string }>(
    await db.execute(sql`select ${horizon} as seen,
      (select count(*)::int from tools where workspace_id = ${workspace} and status = 'ACTIVE') as active,
      exists (select from tool_categories where workspace_id = ${workspace} and ${isSince(seen)}) as named,
      (select coalesce(jsonb_agg(id), '[]') from (select id from tools where workspace_id = ${workspace}
        and ${isSince(seen)} limit ${maxChanges + 1}::int) few) as ids`),
  )
  if (row === undefined) return { tools: undefined, active: 0, seen }
  const ids: readonly string[] = typeof row.ids === 'string' ? JSON.parse(row.ids) : row.ids
  const about = { active: Number(row.active), seen: row.seen }
  // Every tool has the name of its category, so a changed category changes all its tools.
  if (row.named || ids.length > maxChanges) return { ...about, tools: undefined }
  return { ...about, tools: ids.length === 0 ? [] : await readPage(db, inArray(tools.id, [...ids])) }
}

async function readPage(db: Db, which: SQL | undefined): Promise<OfferedTool[]> {
  const page = await db
    .select({ tool: tools, category: toolCategories.name })
    .from(tools)
    .leftJoin(toolCategories, eq(toolCategories.id, tools.categoryId))
    .where(which)
    .orderBy(tools.name)
    .limit(pageRows)
  return page.map(({ tool, category }) => ({ tool: toTool(tool), category }))
}

/** All transactions with lower ids have ended, so their changes are visible. */
const horizon = sql`pg_snapshot_xmin(pg_current_snapshot())::text`

/** Whether a row was written by that transaction or a later one; rows contain only the lower 32 bits of the id. */
const isSince = (seen: string): SQL =>
  sql`(xmin::text::bigint - ${seen}::bigint % 4294967296 + 4294967296) % 4294967296 < 2147483648`
