import type { OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import type { GoldenRequest } from './parse-requests.ts'

/** The modes of search. */
export const modes = ['hybrid', 'bm25', 'embedding', 'substring'] as const
export type Mode = (typeof modes)[number]

/** A request whose tools are not all among the first results. */
export interface Miss {
  readonly query: string
  readonly expected: readonly string[]
  readonly found: readonly string[]
  readonly fit: string | undefined
}

/** The scores of one mode, and the requests that fail with it. */
export interface Evaluation {
  readonly mode: Mode
  readonly scores: OperationOutput<'catalog.eval'>['macro']
  readonly warnings: readonly string[]
  readonly misses: readonly Miss[]
}

const firstResults = 5

/** The ids of the tools of requests; names are resolved by the server. */
async function resolveIds(requests: readonly GoldenRequest[]): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  for (const name of new Set(requests.flatMap(({ tools }) => tools)))
    ids.set(name, (await api.tools.doc({ idOrName: name, level: 'summary' })).id)
  return ids
}

/** Evaluates search on the catalog in each of the modes. */
export async function evaluate(requests: readonly GoldenRequest[], chosen: readonly Mode[]): Promise<Evaluation[]> {
  const ids = await resolveIds(requests)
  const idOf = (name: string) => ids.get(name) ?? name
  const queries = requests.map(({ query, tools }) => ({ query, relevant: tools.map(idOf) }))
  const evaluations: Evaluation[] = []
  for (const mode of chosen) {
    const { macro, warnings } = await api.catalog.eval({ queries, mode })
    const misses: Miss[] = []
    for (const { query, tools } of requests) {
      const { results = [], fit } = await api.tools.search({ query, mode, limit: firstResults, level: 'summary' })
      if (tools.every((name) => results.some(({ id }) => id === idOf(name)))) continue
      misses.push({ query, expected: tools, found: results.map(({ name }) => name), fit })
    }
    evaluations.push({ mode, scores: macro, warnings, misses })
  }
  return evaluations
}
