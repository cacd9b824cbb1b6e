import type { Caller, NewTool } from '../contract/stores.ts'
import type { Db } from './database.ts'
import { announce } from './record.ts'
import { auditEntries, tools, toolVersions } from './schema.ts'

// A statement takes 65,535 values at most; a version has some thirty.
const batch = 500

/** Makes tools with their first versions, a few hundred to a statement. */
export async function createMany(db: Db, caller: Caller, drafts: readonly NewTool[]): Promise<void> {
  const { workspace: workspaceId, actor, requestId = null } = caller
  for (let start = 0; start < drafts.length; start += batch) {
    const part = drafts.slice(start, start + batch)
    const rows = await db
      .insert(tools)
      .values(part.map(({ content, status }) => ({ ...content, workspaceId, status })))
      .returning({ id: tools.id, name: tools.name })
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
    await db.insert(auditEntries).values(
      part.map(({ content, status }) => ({
        workspaceId,
        actor,
        requestId,
        action: 'tool.create',
        subject: `tool:${content.name}`,
        after: { status, version: 1 },
      })),
    )
  }
  if (drafts.length > 0) await announce(db, workspaceId)
}
