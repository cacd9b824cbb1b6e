import type * as z from 'zod'
import { showInvisible } from '../../base/visible-text.ts'
import type { describeTools } from '../../operations/search/describe-tools.ts'
import type { searchTools } from '../../operations/search/search-tools.ts'

type SearchAnswer = z.output<typeof searchTools.output>
type DescribeAnswer = z.output<typeof describeTools.output>

/** A search answer for a model to read: one line a tool, or the overview of what there is. */
export function searchText(answer: SearchAnswer): string {
  if (answer.mode === 'summary') {
    const lines = (answer.summary ?? []).map(({ name, description, toolCount, category, tags }) => {
      const labels = [category ?? '', ...tags].filter((label) => label !== '').join(', ')
      return `${name} (${toolCount} tools${labels === '' ? '' : `; ${labels}`}): ${description}`
    })
    if (lines.length === 0) lines.push('There are no tools.')
    if (answer.note !== undefined) lines.push(`(${answer.note})`)
    return showInvisible(lines.join('\n'))
  }
  const lines = (answer.results ?? []).map(
    ({ name, callAs, signature, shortDescription, description, inputSchema, readiness }) => {
      const state = readiness === undefined ? '' : ` (not ready: ${readiness.reason ?? readiness.state})`
      const text = `${signature ?? callAs ?? name}: ${description ?? shortDescription}${state}`
      return inputSchema === undefined ? text : `${text}\n${JSON.stringify(inputSchema)}`
    },
  )
  if (answer.note !== undefined) lines.push(`(${answer.note})`)
  if (answer.nextCursor !== undefined) lines.push(`(${answer.omitted} more: cursor ${answer.nextCursor})`)
  if (lines.length === 0 && answer.omitted > 0)
    return `${answer.omitted} tools match, but none fits. Raise limit or budgetTokens.`
  return lines.length === 0
    ? 'No tool matches. Try other words, or no query for an overview.'
    : showInvisible(lines.join('\n'))
}

/** What was asked about tools, for a model to read. */
export function describeText({ tools, unknown = [] }: DescribeAnswer): string {
  const texts = tools.map(({ name, summary, tool, exampleRequests, notes }) => {
    const lines = [`${name}: ${tool?.description ?? summary}`]
    if (tool !== undefined) lines.push(JSON.stringify(tool.inputSchema))
    if (exampleRequests !== undefined && exampleRequests.length > 0) lines.push(`For: ${exampleRequests.join(' | ')}`)
    if (notes !== undefined) lines.push(notes)
    return lines.join('\n')
  })
  const missing = unknown.map(({ message, hint }) => `${message} ${hint}`)
  return showInvisible([...texts, ...missing].join('\n\n'))
}
