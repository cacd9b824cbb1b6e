import { and, desc, eq, lt } from 'drizzle-orm'
import type { ToolVersion } from '../../contract/registry.ts'
import type { Page, PageQuery } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import type { Cursors } from '../page.ts'
import { toVersion } from '../rows.ts'
import { tools, toolVersions } from '../schema.ts'

/** The versions of a tool, newest first. */
export async function selectVersions(
  db: Db,
  cursors: Cursors,
  workspace: string,
  toolId: string,
  { limit, cursor }: PageQuery,
): Promise<Page<ToolVersion>> {
  const list = ['versions', workspace, toolId]
  const position = cursors.read(list, cursor)
  const rows = await db
    .select({ version: toolVersions })
    .from(toolVersions)
    .innerJoin(tools, eq(tools.id, toolVersions.toolId))
    .where(
      and(
        eq(tools.workspaceId, workspace),
        eq(tools.id, toolId),
        position === undefined ? undefined : lt(toolVersions.version, Number(position.value)),
      ),
    )
    .orderBy(desc(toolVersions.version))
    .limit(limit + 1)
  const items = rows.slice(0, limit).map(({ version }) => toVersion(version))
  const last = items.at(-1)
  if (rows.length <= limit || last === undefined) return { items }
  return { items, nextCursor: cursors.write(list, { value: last.version, id: toolId }) }
}
