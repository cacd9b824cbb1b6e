import { and, eq, sql } from 'drizzle-orm'
import type { RegisteredTool } from '../../contract/registry.ts'
import type { Caller } from '../../contract/stores.ts'
import { reachPoint } from '../../rules/fault-points.ts'
import type { Db } from '../database.ts'
import { contentOf } from '../rows.ts'
import { toolVersions } from '../schema.ts'

/** Stores the content of a tool as its latest version. */
export async function addVersion(
  db: Db,
  { actor }: Caller,
  tool: RegisteredTool,
  changelog: string | undefined,
): Promise<void> {
  await db
    .update(toolVersions)
    .set({ isLatest: false, updatedAt: sql`now()` })
    .where(and(eq(toolVersions.toolId, tool.id), toolVersions.isLatest))
  reachPoint('F8 version inserted')
  await db.insert(toolVersions).values({
    ...contentOf(tool),
    toolId: tool.id,
    version: tool.version,
    changelog: changelog ?? null,
    createdBy: actor,
  })
  reachPoint('F8 version inserted')
}
