import { setImmediate as nextTurn } from 'node:timers/promises'
import { and, eq, gt } from 'drizzle-orm'
import type { OfferedTool } from '../contract/stores.ts'
import type { Db } from './database.ts'
import { toTool } from './rows.ts'
import { toolCategories, tools } from './schema.ts'

// The embedded engine works in this very thread: a page of this many keeps others waiting for some 50 ms.
const pageRows = 250

/** Every active tool by name, page by page; what changes meanwhile is announced, so whoever follows reads again. */
export async function listOffered(db: Db, workspace: string): Promise<readonly OfferedTool[]> {
  const all: OfferedTool[] = []
  const offered = and(eq(tools.workspaceId, workspace), eq(tools.status, 'ACTIVE'))
  for (;;) {
    const last = all.at(-1)?.tool.name
    const page = await db
      .select({ tool: tools, category: toolCategories.name })
      .from(tools)
      .leftJoin(toolCategories, eq(toolCategories.id, tools.categoryId))
      .where(last === undefined ? offered : and(offered, gt(tools.name, last)))
      .orderBy(tools.name)
      .limit(pageRows)
    for (const { tool, category } of page) all.push({ tool: toTool(tool), category })
    if (page.length < pageRows) return all
    await nextTurn()
  }
}
