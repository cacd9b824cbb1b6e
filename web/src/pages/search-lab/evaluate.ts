import type { OperationOutput } from 'tooldex/client'
import { api, apiIn } from '../../api/client.ts'
import type { GoldenRequest } from './parse-requests.ts'
import { type Settings, toEvalInput } from './settings.ts'

type Detail = NonNullable<OperationOutput<'catalog.eval'>['details']>[number]

/** The result of one request on one side. */
export interface Outcome {
  readonly failure: Detail['failure']
  readonly found: readonly { readonly name: string; readonly score: number }[]
  /** The tools that are not among the first five results, by the names of the request. */
  readonly missing: readonly string[]
}

/** The scores of one side, and the outcome of each request. */
export interface Evaluation {
  readonly settings: Settings
  readonly scores: OperationOutput<'catalog.eval'>['macro']
  readonly warnings: readonly string[]
  readonly outcomes: readonly Outcome[]
}

/** The ids of the tools of requests; names are resolved by the server. */
async function resolveIds(requests: readonly GoldenRequest[]): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  for (const name of new Set(requests.flatMap(({ tools }) => tools)))
    ids.set(name, (await api.tools.doc({ idOrName: name, level: 'summary' })).id)
  return ids
}

const clientOf = ({ toolset }: Settings) => (toolset === undefined ? api : apiIn(toolset))

/** Evaluates search on the catalog with the settings of each side. */
export async function evaluate(requests: readonly GoldenRequest[], sides: readonly Settings[]): Promise<Evaluation[]> {
  const ids = await resolveIds(requests)
  const queries = requests.map(({ query, tools }) => ({ query, relevant: tools.map((name) => ids.get(name) ?? name) }))
  const evaluations: Evaluation[] = []
  for (const settings of sides) {
    const input = { ...toEvalInput(settings), queries, details: true }
    const { macro, warnings, details = [] } = await clientOf(settings).catalog.eval(input)
    const outcomes = details.map(({ failure, results, missing }, at): Outcome => {
      const names = requests[at]?.tools ?? []
      return { failure, found: results, missing: names.filter((name) => missing.includes(ids.get(name) ?? name)) }
    })
    evaluations.push({ settings, scores: macro, warnings, outcomes })
  }
  return evaluations
}

/** Why a tool is not among the first results of a request. */
export async function explainMissing(query: string, tool: string, settings: Settings): Promise<string> {
  const { minFit: _, ...input } = toEvalInput(settings)
  const { explained } = await clientOf(settings).tools.search({ ...input, query, explainTool: tool, level: 'line' })
  return explained?.reason ?? ''
}
