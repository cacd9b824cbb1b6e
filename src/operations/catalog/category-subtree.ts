import type { SearchFilters } from '../../contract/catalog.ts'
import type { Category } from '../../contract/registry.ts'
import type { OperationContext } from '../operation.ts'

/** Extends a category filter by its subcategories, if the registry has a category of this name or id. */
export async function withSubtree(
  filters: SearchFilters,
  context: OperationContext<'registry?'>,
): Promise<SearchFilters> {
  const { category } = filters
  if (typeof category !== 'string' || context.registry === undefined) return filters
  const all = await context.registry.stores.categories.all(context.caller.workspace)
  return { ...filters, category: [category, ...namesBelow(all, category.toLowerCase())] }
}

function namesBelow(all: readonly Category[], wanted: string): readonly string[] {
  const names: string[] = []
  // Names are case-sensitive in the registry, but not in search.
  let level = all.filter(({ id, name }) => id === wanted || name.toLowerCase() === wanted)
  while (level.length > 0) {
    names.push(...level.map(({ name }) => name))
    const above = new Set(level.map(({ id }) => id))
    level = all.filter(({ parentId }) => parentId !== null && above.has(parentId))
  }
  return names
}
