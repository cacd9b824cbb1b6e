import { api } from '../../api/client.ts'
import { type GoldenRequest, maxRequests } from './parse-requests.ts'

/** Requests of agents that led to successful calls, newest last; tools that no longer exist are left out. */
export async function mineRequests(): Promise<readonly GoldenRequest[]> {
  const { latest } = await api.learning.show({ limit: maxRequests })
  const names = new Map<string, string | undefined>()
  for (const id of new Set(latest.flatMap(({ toolIds }) => toolIds)))
    names.set(id, await api.tools.doc({ idOrName: id, level: 'summary' }).then(({ id }) => id, unlessThere))
  const byQuery = new Map<string, Set<string>>()
  for (const { query, toolIds } of latest)
    for (const name of toolIds.flatMap((id) => names.get(id) ?? []))
      byQuery.set(query, (byQuery.get(query) ?? new Set()).add(name))
  return Array.from(byQuery, ([query, tools]) => ({ query, tools: [...tools] }))
}

const unlessThere = () => undefined
