import * as z from 'zod'
import { mustExist } from '../../base/errors.ts'
import { omitUndefined } from '../../base/json-values.ts'
import { Category, CategoryName, registryLimits } from '../../contract/registry.ts'
import type { CategoryDraft, CountedCategory } from '../../contract/stores.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { readableNames } from '../search/tool-view.ts'
import { ExpectedVersion, IdOrName } from './inputs.ts'

const tag = 'categories'
const fields = {
  name: CategoryName,
  description: z.string().max(2000).nullish().describe('Description of the category.'),
  parentId: z.guid().nullish().describe('Parent category.'),
}
const condition = { expectedVersion: ExpectedVersion.optional() }
const Counted = Category.extend({
  tools: z.int().describe('Number of tools in it.'),
  toolsBelow: z.int().describe('Number of tools in it and its subcategories.'),
})

export interface CategoryNode extends z.infer<typeof Counted> {
  readonly children: CategoryNode[]
}
const CategoryNode: z.ZodType<CategoryNode> = z.lazy(() => Counted.extend({ children: z.array(CategoryNode) }))

/** Creates a category. */
export const createCategory = defineOperation({
  name: 'categories.create',
  summary: 'Create a category, at the top or below another.',
  scope: 'write',
  needs: ['registry'],
  http: { method: 'post', path: '/categories', status: 201, location: '/categories/{id}', tag },
  input: z.strictObject(fields),
  output: Category,
  handle: (draft, context) => context.registry.stores.categories.create(context.caller, draft),
})

/** Tools that a policy hides from the caller are not counted. */
const countedCategories = async (context: OperationContext<'catalog' | 'registry'>): Promise<CountedCategory[]> =>
  context.registry.stores.categories.all(context.caller.workspace, await readableNames(context))

/** Lists categories. */
export const listCategories = defineOperation({
  name: 'categories.list',
  summary: 'List all categories with their tool counts.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/categories', tag },
  input: z.object({}),
  output: z.object({ items: z.array(Counted) }),
  handle: async (_, context) => ({ items: await countedCategories(context) }),
})

/** Returns the category tree. */
export const categoryTree = defineOperation({
  name: 'categories.tree',
  summary: 'Show the category tree.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/categories/tree', tag },
  input: z.object({}),
  output: z.object({ items: z.array(CategoryNode) }),
  handle: async (_, context) => ({ items: toTree(await countedCategories(context)) }),
})

/** Reads a category. */
export const getCategory = defineOperation({
  name: 'categories.get',
  summary: 'Read a category by id or name.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/categories/{idOrName}', tag },
  input: z.object({ idOrName: IdOrName }),
  output: Category,
  async handle({ idOrName }, context) {
    const category = await context.registry.stores.categories.get(context.caller.workspace, idOrName)
    return mustExist(category, 'category', idOrName)
  },
})

/** Changes or moves a category. */
export const changeCategory = defineOperation({
  name: 'categories.change',
  summary: 'Rename, describe or move a category.',
  scope: 'write',
  needs: ['registry'],
  http: { method: 'patch', path: '/categories/{idOrName}', tag },
  input: z.strictObject({
    ...fields,
    name: fields.name.optional().describe('New name.'),
    idOrName: IdOrName,
    ...condition,
  }),
  output: Category,
  handle: ({ idOrName, expectedVersion, ...change }, context) =>
    context.registry.stores.categories.change(
      context.caller,
      idOrName,
      omitUndefined(change) as Partial<CategoryDraft>,
      {
        expectedVersion,
      },
    ),
})

/** Deletes a category. */
export const deleteCategory = defineOperation({
  name: 'categories.delete',
  summary: 'Delete an empty category, or one whose contents move to its parent.',
  scope: 'write',
  needs: ['registry'],
  http: { method: 'delete', path: '/categories/{idOrName}', tag },
  input: z.object({
    idOrName: IdOrName,
    reparent: z.boolean().default(false).describe('Move its content to the parent category first.'),
    ...condition,
  }),
  output: Category,
  handle: ({ idOrName, reparent, expectedVersion }, context) =>
    context.registry.stores.categories.remove(context.caller, idOrName, { reparent, expectedVersion }),
})

/** Lists tags. */
export const listTags = defineOperation({
  name: 'tags.list',
  summary: 'List all tags with their tool counts.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/tags', tag },
  input: z.object({}),
  output: z.object({ items: z.array(z.object({ tag: z.string(), tools: z.int() })) }),
  handle: async (_, context) => ({
    items: await context.registry.stores.tools.tags(context.caller.workspace, await readableNames(context)),
  }),
})

/** Renames a tag. */
export const renameTag = defineOperation({
  name: 'tags.rename',
  summary: 'Replace a tag by another on every tool.',
  scope: 'write',
  needs: ['registry'],
  http: { method: 'post', path: '/tags/rename', tag },
  input: z.strictObject({
    from: z.string().min(1).max(registryLimits.tag),
    to: z.string().trim().min(1).max(registryLimits.tag),
  }),
  output: z.object({ tools: z.int().describe('Number of changed tools.') }),
  handle: async ({ from, to }, context) => ({
    tools: await context.registry.stores.tools.renameTag(context.caller, from, to),
  }),
})

function toTree(all: readonly CountedCategory[]): CategoryNode[] {
  const nodes = new Map(all.map((category) => [category.id, { ...category, children: [] as CategoryNode[] }]))
  for (const node of nodes.values()) nodes.get(node.parentId ?? '')?.children.push(node)
  return [...nodes.values()].filter(({ parentId }) => parentId === null)
}
