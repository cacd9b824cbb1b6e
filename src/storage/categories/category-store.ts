import { and, eq, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import type { Category } from '../../contract/registry.ts'
import type { Caller, CategoryDraft, CategoryStore, Condition, CountedCategory } from '../../contract/stores.ts'
import { isExpectedCategory } from '../../rules/expected.ts'
import type { Db } from '../database.ts'
import { guard, transact } from '../guard.ts'
import { announceToolChange, record, recordChanges } from '../record.ts'
import { namedRows, toCategory, toTool } from '../rows.ts'
import { toolCategories, tools } from '../schema.ts'
import { addVersion } from '../tools/add-tools.ts'
import { arrangeCategories, checkParent } from './category-tree.ts'
import { isOneOf } from './tags.ts'

const rows = namedRows(toolCategories, 'category')

export class DatabaseCategoryStore implements CategoryStore {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  create(caller: Caller, draft: CategoryDraft) {
    return this.#change(caller, async (db) => {
      if (draft.parentId) await refuseParent(db, caller, { name: draft.name }, draft.parentId)
      const [row] = await db
        .insert(toolCategories)
        .values({ ...draft, workspaceId: caller.workspace })
        .returning()
      const category = toCategory(row as typeof toolCategories.$inferSelect)
      await record(db, caller, { action: 'category.create', subject: `category:${category.name}`, after: category })
      return category
    })
  }

  get(workspace: string, idOrName: string) {
    return guard(async () => {
      const row = await rows.find(this.#db, workspace, idOrName)
      return row === undefined ? undefined : toCategory(row)
    })
  }

  all(workspace: string, names?: ReadonlySet<string>) {
    return guard(async () => {
      const counted = await this.#db
        .select({ category: toolCategories, tools: sql<number>`count(${tools.id})::int` })
        .from(toolCategories)
        .leftJoin(tools, and(eq(tools.categoryId, toolCategories.id), isOneOf(names)))
        .where(eq(toolCategories.workspaceId, workspace))
        .groupBy(toolCategories.id)
        .orderBy(toolCategories.name)
      return withTotals(counted.map((row) => ({ ...toCategory(row.category), tools: row.tools })))
    })
  }

  change(caller: Caller, idOrName: string, change: Partial<CategoryDraft>, { expectedVersion }: Condition = {}) {
    return this.#change(caller, async (db) => {
      const before = await find(db, caller, idOrName)
      checkExpected(before, expectedVersion)
      if (change.parentId) await refuseParent(db, caller, before, change.parentId)
      const [row] = await db
        .update(toolCategories)
        .set({ ...change, updatedAt: sql`now()` })
        .where(eq(toolCategories.id, before.id))
        .returning()
      const after = toCategory(row as typeof toolCategories.$inferSelect)
      await record(db, caller, { action: 'category.change', subject: `category:${before.name}`, before, after })
      return after
    })
  }

  arrange(caller: Caller, plan: Parameters<CategoryStore['arrange']>[1]) {
    // The transaction of the caller has its own time limit.
    return this.#change(caller, (db) => arrangeCategories(db, caller, plan), Number.POSITIVE_INFINITY)
  }

  remove(caller: Caller, idOrName: string, { reparent, expectedVersion }: Condition & { readonly reparent: boolean }) {
    return this.#change(caller, async (db) => {
      const category = await find(db, caller, idOrName)
      checkExpected(category, expectedVersion)
      if (reparent) await moveUp(db, caller, category)
      else await checkUnused(db, category)
      await db.delete(toolCategories).where(eq(toolCategories.id, category.id))
      await record(db, caller, { action: 'category.delete', subject: `category:${category.name}`, before: category })
      return category
    })
  }

  /** Serializes changes of the tree, because two valid moves together could form a cycle. */
  #change<Result>(caller: Caller, work: (db: Db) => Promise<Result>, withinMs?: number): Promise<Result> {
    const locked = async (db: Db) => {
      await db.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`categories:${caller.workspace}`}, 0))`)
      const result = await work(db)
      await announceToolChange(db, caller.workspace)
      return result
    }
    return transact(this.#db, locked, { withinMs })
  }
}

const find = async (db: Db, { workspace }: Caller, idOrName: string): Promise<Category> =>
  toCategory(rows.must(await rows.find(db, workspace, idOrName), idOrName))

/** Rejects an unknown parent, as a problem of the input, and one that does not fit. */
async function refuseParent(
  db: Db,
  { workspace }: Caller,
  category: Parameters<typeof checkParent>[1],
  id: string,
): Promise<void> {
  if ((await rows.find(db, workspace, id)) !== undefined) return checkParent(db, category, id)
  const problems = [{ severity: 'error', pointer: '/parentId', message: 'category not found' }] as const
  throw new TooldexError('INPUT_INVALID', 'The parent category does not exist.', { problems })
}

function checkExpected(category: Category, expected: Condition['expectedVersion']): void {
  if (isExpectedCategory(category, expected)) return
  throw new TooldexError(
    'STALE',
    `The category ${category.name} has changed: If-Match does not match its current ETag.`,
  )
}

async function checkUnused(db: Db, { id, name }: Category): Promise<void> {
  const ownTools = await db.$count(tools, eq(tools.categoryId, id))
  const below = await db.$count(toolCategories, eq(toolCategories.parentId, id))
  if (ownTools + below === 0) return
  throw new TooldexError('IN_USE', `The category ${name} is not empty: tools: ${ownTools}, subcategories: ${below}.`, {
    hint: 'Move them first, or delete with reparent to move them to its parent.',
  })
}

/** Moves the contents of a category to its parent; each tool gets a new version, because the category is part of its content. */
async function moveUp(db: Db, caller: Caller, { id, name, parentId }: Category): Promise<void> {
  const moved = await db
    .update(tools)
    .set({ categoryId: parentId, version: sql`${tools.version} + 1`, updatedAt: sql`now()` })
    .where(eq(tools.categoryId, id))
    .returning()
  for (const row of moved) await addVersion(db, caller, toTool(row), `category '${name}' was deleted`)
  const below = await db
    .update(toolCategories)
    .set({ parentId, updatedAt: sql`now()` })
    .where(eq(toolCategories.parentId, id))
    .returning()
  await recordChanges(db, caller, [
    ...moved.map((tool) => ({
      action: 'tool.change',
      subject: `tool:${tool.name}`,
      before: { categoryId: id, version: tool.version - 1 },
      after: { categoryId: parentId, version: tool.version },
    })),
    ...below.map((child) => ({
      action: 'category.change',
      subject: `category:${child.name}`,
      before: { ...toCategory(child), parentId: id },
      after: toCategory(child),
    })),
  ])
}

/** Adds the number of tools including subcategories. */
function withTotals(categories: readonly (Category & { tools: number })[]): CountedCategory[] {
  const children = new Map<string | null, (Category & { tools: number })[]>()
  for (const each of categories) {
    const siblings = children.get(each.parentId)
    if (siblings === undefined) children.set(each.parentId, [each])
    else siblings.push(each)
  }
  const total = (each: Category & { tools: number }): number =>
    each.tools + (children.get(each.id) ?? []).reduce((sum, child) => sum + total(child), 0)
  return categories.map((each) => ({ ...each, toolsBelow: total(each) }))
}
