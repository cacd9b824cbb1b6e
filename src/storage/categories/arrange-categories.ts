import { randomUUID } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import type { BundleCategory } from '../../contract/bundle.ts'
import type { Caller } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { record, recordMany } from '../record.ts'
import { toCategory } from '../rows.ts'
import { toolCategories } from '../schema.ts'
import { checkDepths } from './category-tree.ts'

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
  for (const category of change) await move(db, caller, toRow(category))
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
  await recordMany(db, caller, changes)
}

async function move(db: Db, caller: Caller, { id, name, description, parentId }: CategoryRow): Promise<void> {
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
