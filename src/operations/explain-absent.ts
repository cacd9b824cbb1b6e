import type { Explanation } from '../contract/search.ts'
import type { EngineQuery } from '../search/index.ts'
import type { OperationContext } from './operation.ts'

/** Why a named tool is or is not among the answers. That a policy hides one is told only to those who may know of it. */
export function explainAbsent(
  name: string,
  query: EngineQuery,
  { catalogue, scopes }: OperationContext,
): { tool: string; reason: string; explanation?: Explanation } {
  const snapshot = catalogue.current()
  const entry = snapshot.names.get(name)
  if (entry === undefined) {
    const hidden = snapshot.configs.some(({ config }) => config.tools.some((tool) => tool.name === name))
    const told = hidden && scopes.has('admin')
    return { tool: name, reason: told ? 'it is there, but the policy hides it' : 'there is no such tool' }
  }
  const engine = catalogue.engine()
  const id = `${entry.cliName}:${entry.toolName}`
  const explanation = engine.explain(id, query)
  const all = engine.search({ ...query, offset: 0, limit: snapshot.entries.length })
  const place = all.hits.findIndex((hit) => hit.tool.id === id)
  const filtered =
    place < 0 &&
    engine
      .search({ ...query, accept: undefined, limit: snapshot.entries.length })
      .hits.some((hit) => hit.tool.id === id)
  const absent = filtered
    ? 'a filter of the query leaves it out'
    : 'no word of the query is in it, and it does not stand out by meaning'
  const reason = place < 0 ? absent : `it is number ${place + 1} of ${all.total}`
  return { tool: name, reason, ...(explanation === undefined ? {} : { explanation }) }
}
