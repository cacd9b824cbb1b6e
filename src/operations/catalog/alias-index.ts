import { lazyModule } from '../../base/lazy-module.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Catalog } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import { parseToolId, toFullId } from '../../rules/tool-id.ts'

const loadDefinitions = lazyModule(() => import('../../definitions/index.ts'))

type IdsByAlias = ReadonlyMap<string, readonly string[]>

/** The aliases of each catalog in its present version; they are computed with the first name that is no name of a tool. */
const indexes = new WeakMap<Catalog, { readonly version: number; readonly ids: Promise<IdsByAlias> }>()

/** The ids of the tools with an alias in lists for models, the best first. */
export async function idsOfAlias(tools: Catalog, alias: string): Promise<readonly string[]> {
  const { version } = tools
  const known = indexes.get(tools)
  const ids = known?.version === version ? known.ids : readAliases(tools)
  indexes.set(tools, { version, ids })
  return (await ids).get(alias) ?? []
}

/** A tool as named in lists for models: with a full id if several tools have its name. */
export function toNamed(tools: Catalog, id: string, tool: Pick<CatalogTool, 'name' | 'namespace'>) {
  const { name, namespace } = tool
  if (namespace || !tools.sharesName(tool)) return { id, name, namespace }
  const fullId = toFullId(tool)
  return { id: fullId, name, namespace: parseToolId(fullId).namespace }
}

async function readAliases(tools: Catalog): Promise<IdsByAlias> {
  const { aliasCandidates, assignAliases } = await loadDefinitions()
  const turn = yieldTurns()
  const named = Array.from(tools.entries, ([id, { tool }]) => toNamed(tools, id, tool))
  const ids = new Map<string, string[]>()
  const add = (alias: string, id: string): void => {
    const known = ids.get(alias)
    if (known === undefined) ids.set(alias, [id])
    else if (!known.includes(id)) known.push(id)
  }
  for (const format of ['openai', 'gemini'] as const) {
    await turn()
    for (const [id, alias] of assignAliases(named, format)) add(alias, id)
  }
  // A client may remember the alias with a hash, which no change of the list invalidates.
  for (const tool of named) {
    add(aliasCandidates(tool, 'openai').at(-1) ?? tool.name, tool.id)
    await turn()
  }
  return ids
}
