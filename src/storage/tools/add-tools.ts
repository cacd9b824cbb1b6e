import { and, eq, sql } from 'drizzle-orm'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import type { Caller, NewTool } from '../../contract/stores.ts'
import { reachPoint } from '../../rules/fault-points.ts'
import type { Db } from '../database.ts'
import { announceToolChange, recordChanges } from '../record.ts'
import { toolContentOf } from '../rows.ts'
import { tools, toolVersions } from '../schema.ts'

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
    ...toolContentOf(tool),
    toolId: tool.id,
    version: tool.version,
    changelog: changelog ?? null,
    createdBy: actor,
  })
  reachPoint('F8 version inserted')
}

// The embedded engine may run on this thread: a statement of this many tools blocks the event loop for about 50 ms.
const batch = 100

/** Creates tools with their first versions in batches; yields to the event loop between statements. */
export async function insertTools(db: Db, caller: Caller, drafts: readonly NewTool[]): Promise<void> {
  const { workspace: workspaceId, actor } = caller
  const turn = yieldTurns()
  for (let start = 0; start < drafts.length; start += batch) {
    const part = drafts.slice(start, start + batch)
    const rows = await db
      .insert(tools)
      .values(part.map(({ content, status }) => ({ ...content, workspaceId, status })))
      .returning({ id: tools.id, name: tools.name })
    await turn()
    const ids = new Map(rows.map(({ id, name }) => [name, id]))
    const idOf = (name: string) => ids.get(name) as string
    await db.insert(toolVersions).values(
      part.map(({ content, changelog }) => ({
        ...content,
        toolId: idOf(content.name),
        version: 1,
        changelog: changelog ?? null,
        createdBy: actor,
      })),
    )
    await turn()
    const changes = part.map(({ content, status }) => ({
      action: 'tool.create',
      subject: `tool:${content.name}`,
      after: { ...toolContentOf(content), status, version: 1 },
    }))
    await recordChanges(db, caller, changes)
  }
  if (drafts.length > 0) await announceToolChange(db, workspaceId)
}
