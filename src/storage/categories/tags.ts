import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import type { Caller } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { type Change, recordChanges, recordOfferedChange } from '../record.ts'
import { toTool } from '../rows.ts'
import { tools } from '../schema.ts'

/** The condition that a tool has one of these names; none where `names` is undefined. */
export const isOneOf = (names: ReadonlySet<string> | undefined): SQL | undefined =>
  names === undefined ? undefined : names.size === 0 ? sql`false` : inArray(tools.name, [...names])

/** Every tag with the number of its tools. */
export async function selectTags(db: Db, workspace: string, names?: ReadonlySet<string>) {
  const tag = sql<string>`jsonb_array_elements_text(${tools.tags})`
  const each = db
    .select({ id: tools.id, tag: tag.as('tag') })
    .from(tools)
    .where(and(eq(tools.workspaceId, workspace), isOneOf(names)))
    .as('each')
  const rows = await db
    .select({ tag: each.tag, tools: sql<number>`count(distinct ${each.id})::int` })
    .from(each)
    .groupBy(each.tag)
    .orderBy(each.tag)
  return rows
}

/** Replaces a tag by another on every tool that has it; each tool gets a new version. */
export async function updateTag(
  db: Db,
  caller: Caller,
  { from, to }: { readonly from: string; readonly to: string },
  addVersion: (tool: RegisteredTool) => Promise<void>,
): Promise<number> {
  const has = sql`${tools.tags} @> ${JSON.stringify([from])}::jsonb`
  const rows = await db
    .select()
    .from(tools)
    .where(and(eq(tools.workspaceId, caller.workspace), has))
    .orderBy(tools.id)
    .for('update')
  if (rows.length === 0) throw new TooldexError('NOT_FOUND', `No tool has the tag '${toOneLine(from)}'.`)
  if (from === to) return 0
  const changes: Change[] = []
  for (const row of rows) {
    const tags = [...new Set((row.tags as string[]).map((tag) => (tag === from ? to : tag)))]
    const [changed] = await db
      .update(tools)
      .set({ tags, version: row.version + 1, updatedAt: sql`now()` })
      .where(eq(tools.id, row.id))
      .returning()
    await addVersion(toTool(changed as typeof tools.$inferSelect))
    const [before, after] = [
      { tags: row.tags, version: row.version },
      { tags, version: row.version + 1 },
    ]
    changes.push({ action: 'tool.change', subject: `tool:${row.name}`, before, after })
  }
  await recordChanges(db, caller, changes)
  await recordOfferedChange(db, caller, { action: 'tag.rename', subject: `tag:${from}`, before: from, after: to })
  return rows.length
}
