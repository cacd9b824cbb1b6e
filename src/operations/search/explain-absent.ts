import { yieldTurns } from '../../base/yield-turns.ts'
import type { Catalog } from '../../catalog/index.ts'
import type { Explanation } from '../../contract/search.ts'
import type { ToolContext } from '../operation.ts'
import type { Question } from './search-tools.ts'

interface Reason {
  readonly tool: string
  readonly reason: string
  readonly explanation?: Explanation
}

/**
 * The reason why a named tool is or is not in the results. That a policy hides it is only shown to callers who may see it.
 */
export async function explainAbsent(name: string, question: Question, context: ToolContext): Promise<Reason> {
  const { catalog, scopes } = context
  const tools = await catalog.open()
  const found = tools.find(name)
  if (found !== undefined && question.view?.shows(found) === false) {
    const hider = question.view.hiddenBy(found.tool)
    return { tool: name, reason: scopes.has('admin') ? `${hider} hides it` : absent }
  }
  if (found === undefined) {
    const hidden = catalog.current().configs.some(({ config }) => config.tools.some((tool) => tool.name === name))
    const isVisible = hidden && scopes.has('admin')
    return { tool: name, reason: isVisible ? 'the policy hides it' : absent }
  }
  const { id } = found
  // Each step ranks all tools.
  const turn = yieldTurns(context.signal, 0)
  await turn()
  const explanation = (await catalog.engine()).explain(id, question)
  await turn()
  const place = placeOf(id, question, tools)
  await turn()
  const reason = place ?? absenceOf(id, question, tools)
  return { tool: name, reason, ...(explanation === undefined ? {} : { explanation }) }
}

const absent = 'there is no such tool'

function placeOf(id: string, question: Question, tools: Catalog): string | undefined {
  const ids = everyAnswer(question, tools)
  return ids.includes(id) ? `it is result ${ids.indexOf(id) + 1} of ${ids.length}` : undefined
}

function absenceOf(id: string, { minScore = 0, ...question }: Question, tools: Catalog): string {
  if (minScore > 0 && everyAnswer(question, tools).includes(id)) return 'its score is below the minimum score'
  const filtered = everyAnswer({ ...question, filters: { status: [] } }, tools).includes(id)
  if (!filtered) return 'it contains no word of the query, and its meaning is not close enough'
  const { status = 'ACTIVE' } = tools.entries.get(id)?.tool ?? {}
  if (question.filters?.status != null || status === 'ACTIVE') return 'a filter of the query excludes it'
  return `it is ${status}; only ACTIVE tools are found unless the status filter includes others`
}

function everyAnswer(question: Question, tools: Catalog): readonly string[] {
  return tools.search({ ...question, cursor: undefined, limit: tools.size }).hits.map(({ id }) => id)
}
