import { randomUUID } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import type { BundleCategory } from '../../contract/bundle.ts'
import { type Category, registryLimits } from '../../contract/registry.ts'
import type { Caller } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { record, recordChanges } from '../record.ts'
import { toCategory } from '../rows.ts'
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

const batch = 500

/** Creates and moves many categories, parents first; checks the depth of the resulting tree. */
export async function arrangeCategories(
  db: Db,
  caller: Caller,
  { create, change }: { readonly create: readonly BundleCategory[]; readonly change: readonly BundleCategory[] },
): Promise<void> {
  const ids = new Map((await readAll(db, caller)).map(({ id, name }) => [name, id]))
  for (const { name } of create) ids.set(name, randomUUID())
  const toRow = ({ name, description, parent }: BundleCategory) => {
    const parentId = parent === null ? null : ids.get(parent)
    if (parentId === undefined) throw new TooldexError('NOT_FOUND', `Unknown category: ${parent}.`)
    return { id: ids.get(name) as string, name, description, parentId }
  }
  for (let start = 0; start < create.length; start += batch)
    await insert(db, caller, create.slice(start, start + batch).map(toRow))
  for (const category of change) await updateCategory(db, caller, toRow(category))
  checkDepths(await readAll(db, caller))
}

type CategoryRow = { readonly id: string; readonly name: string; description: string | null; parentId: string | null }

async function readAll(db: Db, { workspace }: Caller) {
  const rows = await db.select().from(toolCategories).where(eq(toolCategories.workspaceId, workspace))
  return rows.map(toCategory)
}

async function insert(db: Db, caller: Caller, part: readonly CategoryRow[]): Promise<void> {
  const rows = await db
    .insert(toolCategories)
    .values(part.map((each) => ({ ...each, workspaceId: caller.workspace })))
    .returning()
  const action = 'category.create'
  const changes = rows.map((row) => ({ action, subject: `category:${row.name}`, after: toCategory(row) }))
  await recordChanges(db, caller, changes)
}

async function updateCategory(db: Db, caller: Caller, { id, name, description, parentId }: CategoryRow): Promise<void> {
  const [before] = await db.select().from(toolCategories).where(eq(toolCategories.id, id))
  const [after] = await db
    .update(toolCategories)
    .set({ description, parentId, updatedAt: sql`now()` })
    .where(eq(toolCategories.id, id))
    .returning()
  if (before === undefined || after === undefined) throw new TooldexError('NOT_FOUND', `Unknown category: ${name}.`)
  const change = { before: toCategory(before), after: toCategory(after) }
  await record(db, caller, { action: 'category.change', subject: `category:${name}`, ...change })
}
