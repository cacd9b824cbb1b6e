import { eq, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import { type Category, registryLimits } from '../../contract/registry.ts'
import type { Db } from '../database.ts'
import { toolCategories } from '../schema.ts'

/** Rejects a parent that is the category itself or one of its descendants, or that makes the tree too deep. */
export async function checkParent(
  db: Db,
  { id, name }: { id?: string; name: string },
  parentId: string,
): Promise<void> {
  const above = await ancestorsOf(db, parentId)
  if (id !== undefined && above.includes(id))
    throw new TooldexError('ILLEGAL_STEP', `${name} cannot be moved below itself.`, {
      hint: 'Choose a parent that is not below it.',
    })
  const levels = above.length + (id === undefined ? 1 : await heightOf(db, id))
  if (levels > registryLimits.categoryDepth) throw tooDeep(name, levels, ['/parentId'])
}

/** Rejects a tree that is too deep. */
export function checkDepths(categories: readonly Category[]): void {
  const byId = new Map(categories.map((category) => [category.id, category]))
  for (const category of categories) {
    let levels = 1
    for (let at = byId.get(category.parentId ?? ''); at !== undefined; at = byId.get(at.parentId ?? '')) {
      levels += 1
      if (levels > registryLimits.categoryDepth) throw tooDeep(category.name, levels)
    }
  }
}

function tooDeep(name: string, levels: number, pointers: readonly string[] = []): TooldexError {
  const message = `categories can nest at most ${registryLimits.categoryDepth} levels`
  return new TooldexError('INPUT_INVALID', `The category ${name} would be at level ${levels}: ${message}.`, {
    problems: pointers.map((pointer) => ({ severity: 'error', pointer, message })),
    hint: 'Choose a parent at a higher level.',
  })
}

/** A category and its ancestors. */
async function ancestorsOf(db: Db, id: string): Promise<readonly string[]> {
  const above = sql`(
    with recursive above as (
      select id, parent_id from tool_categories where id = ${id}::uuid
      union
      select up.id, up.parent_id from tool_categories up join above on up.id = above.parent_id
    ) select id from above)`
  const rows = await db
    .select({ id: toolCategories.id })
    .from(toolCategories)
    .where(sql`${toolCategories.id} in ${above}`)
  return rows.map((row) => row.id)
}

/** The number of levels of a category and its descendants. */
async function heightOf(db: Db, id: string): Promise<number> {
  const levels = sql<number>`(
    with recursive below as (
      select id, 1 as level from tool_categories where id = ${id}::uuid
      union all
      select down.id, below.level + 1 from tool_categories down join below on down.parent_id = below.id
    ) select max(level) from below)`
  const [row] = await db.select({ levels }).from(toolCategories).where(eq(toolCategories.id, id))
  return Number(row?.levels ?? 1)
}
