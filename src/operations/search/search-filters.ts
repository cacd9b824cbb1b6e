import * as z from 'zod'
import { SearchFilters } from '../../contract/catalog.ts'
import type { Category } from '../../contract/registry.ts'
import type { OperationContext } from '../operation.ts'

const { source, status, executor, readiness, ...others } = SearchFilters.shape

/** The filters of every list of tools. */
export const stateFilters = { source, status, executor, readiness }

/** The filters of a search: those of the catalog, with one category by name or id that includes its subcategories. */
export const searchFilters = { ...others, category: z.string().nullish(), ...stateFilters }

/** The filters of a surface for the catalog: an empty string does not filter, and a tool needs all of the tags. */
export function toCatalogFilters(input: SearchFilters): SearchFilters {
  const { tags, tagsMatch, source, status, executor, readiness } = input
  const [category, cli, namespace] = [input.category || null, input.cli || null, input.namespace || null]
  return { category, cli, namespace, tags, tagsMatch: tagsMatch ?? 'all', source, status, executor, readiness }
}

/** Extends a category filter by its subcategories, if the registry has a category of this name or id. */
export async function withSubcategories(
  filters: SearchFilters,
  context: OperationContext<'registry?'>,
): Promise<SearchFilters> {
  const { category } = filters
  if (typeof category !== 'string' || context.registry === undefined) return filters
  const all = await categoriesOf(context)
  return { ...filters, category: [category, ...namesBelow(all, category.toLowerCase())] }
}

/** The categories of the registry; counting their tools in the database took longer than a search. */
export const categoriesOf = async ({ registry, caller }: OperationContext<'registry?'>): Promise<readonly Category[]> =>
  (await registry?.stores.categories.all(caller.workspace, noTools)) ?? []

const noTools: ReadonlySet<string> = new Set()

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
