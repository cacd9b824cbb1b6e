import { yieldTurns } from '../../base/yield-turns.ts'
import type { Explanation } from '../../contract/search.ts'
import { configToolId } from '../catalog/live-catalog.ts'
import type { OpenCatalog } from '../catalog/open-catalog.ts'
import type { ToolContext } from '../operation.ts'
import type { Question } from './search-tools.ts'

type Context = ToolContext & OpenCatalog

interface Reason {
  readonly tool: string
  readonly reason: string
  readonly explanation?: Explanation
}

/**
 * The reason why a named tool is or is not in the results. That a policy hides it is only shown to callers who may see it.
 */
export async function explainAbsent(name: string, question: Question, context: Context): Promise<Reason> {
  const { catalog, tools, index, scopes } = context
  const snapshot = catalog.current()
  const entry = snapshot.names.get(name)
  const id = entry === undefined || tools.entries.has(name) ? name : configToolId(entry)
  const found = tools.entries.get(id)?.tool
  if (found !== undefined && question.view?.sees(found) === false) {
    const policy = question.view.hiddenBy(found.name)
    return { tool: name, reason: scopes.has('admin') ? `the policy '${policy}' hides it` : absent }
  }
  if (found === undefined) {
    const hidden = snapshot.configs.some(({ config }) => config.tools.some((tool) => tool.name === name))
    const isVisible = hidden && scopes.has('admin')
    return { tool: name, reason: isVisible ? 'the policy hides it' : absent }
  }
  // Each step ranks all tools.
  const turn = yieldTurns(context.signal)
  await turn()
  const explanation = index.engine().explain(id, question)
  await turn()
  const place = placeOf(id, question, context)
  await turn()
  const reason = place ?? absenceOf(id, question, context)
  return { tool: name, reason, ...(explanation === undefined ? {} : { explanation }) }
}

const absent = 'there is no such tool'

function placeOf(id: string, question: Question, context: Context): string | undefined {
  const ids = everyAnswer(question, context)
  return ids.includes(id) ? `it is result ${ids.indexOf(id) + 1} of ${ids.length}` : undefined
}

function absenceOf(id: string, question: Question, context: Context): string {
  const filtered = everyAnswer({ ...question, filters: { status: [] } }, context).includes(id)
  if (!filtered) return 'it contains no word of the query, and its meaning is not close enough'
  const { status = 'ACTIVE' } = context.tools.entries.get(id)?.tool ?? {}
  if (question.filters?.status != null || status === 'ACTIVE') return 'a filter of the query excludes it'
  return `it is ${status}; only ACTIVE tools are found unless the status filter includes others`
}

function everyAnswer(question: Question, { tools }: Context): readonly string[] {
  return tools.search({ ...question, cursor: undefined, limit: tools.size }).hits.map(({ id }) => id)
}
