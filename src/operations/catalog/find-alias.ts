import { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { Catalog } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import { parseToolId, toFullId } from '../../rules/tool-id.ts'
import type { ToolContext } from '../operation.ts'
import { viewOf } from '../search/tool-view.ts'

const loadDefinitions = lazyModule(() => import('../../definitions/index.ts'))

/** Finds a tool by its name, or else by its alias in a list for a provider, which is the only name a model has. */
export async function orByAlias<Found>(
  context: ToolContext,
  name: string,
  find: (idOrName: string) => Promise<Found>,
): Promise<Found> {
  try {
    return await find(name)
  } catch (thrown) {
    if (!(thrown instanceof TooldexError) || thrown.code !== 'TOOL_NOT_FOUND') throw thrown
    const id = await findByAlias(context, name)
    if (id === undefined) throw thrown
    return find(id)
  }
}

/** A tool as named in lists for models: with a full id if several tools have its name. */
export function toNamed(tools: Catalog, id: string, tool: Pick<CatalogTool, 'name' | 'namespace'>) {
  const { name, namespace } = tool
  if (namespace || !tools.sharesName(tool)) return { id, name, namespace }
  const fullId = toFullId(tool)
  return { id: fullId, name, namespace: parseToolId(fullId).namespace }
}

async function findByAlias(context: ToolContext, name: string): Promise<string | undefined> {
  const { aliasCandidates, assignAliases } = await loadDefinitions()
  const { tools } = await context.catalog.open()
  const view = await viewOf(context)
  const named = Array.from(tools.entries, ([id, { tool }]) => toNamed(tools, id, tool))
  const names = new Map(named.map((tool) => [tool.id, tool]))
  // The id of a hidden tool must not leak.
  const isVisible = (id: string) => view?.sees(names.get(id) ?? { name }) !== false
  for (const format of ['openai', 'gemini'] as const)
    for (const [id, alias] of assignAliases(named, format)) if (alias === name && isVisible(id)) return id
  // A client may remember the alias with a hash, which no change of the list invalidates.
  return named.find((tool) => isVisible(tool.id) && aliasCandidates(tool, 'openai').at(-1) === name)?.id
}
