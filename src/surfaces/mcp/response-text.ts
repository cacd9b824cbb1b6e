import type * as z from 'zod'
import { showInvisible } from '../../base/invisible-characters.ts'
import type { describeTools } from '../../operations/search/describe-tools.ts'
import type { searchTools } from '../../operations/search/search-tools.ts'
import { fitOfHit } from '../../operations/search/verdict.ts'
import { exampleText, readinessText, verdictTexts } from '../text/result-text.ts'

type SearchOutput = z.output<typeof searchTools.output>
type DescribeOutput = z.output<typeof describeTools.output>

/** Formats a search result for a model: one line per tool, or the overview. */
export function searchText(output: SearchOutput): string {
  if (output.mode === 'summary') {
    const lines = (output.summary ?? []).map(({ name, description, toolCount, category, tags }) => {
      const labels = [category ?? '', ...tags].filter((label) => label !== '').join(', ')
      return `${name} (${toolCount} tools${labels === '' ? '' : `; ${labels}`}): ${description}`
    })
    if (lines.length === 0) lines.push('There are no tools.')
    if (output.note !== undefined) lines.push(`(${output.note})`)
    return showInvisible(lines.join('\n'))
  }
  const lines = (output.results ?? []).map((hit) => hitText(hit, output.fit !== undefined))
  if (lines.length > 0 && output.fit !== undefined && output.fit !== 'good') lines.unshift(verdictTexts[output.fit])
  if (output.advice !== undefined) lines.push(output.advice)
  if (output.note !== undefined) lines.push(`(${output.note})`)
  if (output.nextCursor !== undefined) lines.push(`(${output.omitted} more: cursor ${output.nextCursor})`)
  if (output.results?.length === 0 && output.omitted > 0)
    return `${output.omitted} tools match, but none fits. Increase limit or budgetTokens.`
  return output.results?.length === 0
    ? 'No tool matches. Try other words, or omit the query for an overview.'
    : showInvisible(lines.join('\n'))
}

/** A tool, its purpose, how well it fits, and why it cannot be called. */
function hitText(hit: NonNullable<SearchOutput['results']>[number], isJudged: boolean): string {
  const { name, callAs, signature, shortDescription, description, inputSchema, readiness, score } = hit
  const state = readiness === undefined ? '' : ` (${readinessText(readiness)})`
  const fit = isJudged ? ` [${fitOfHit(score)}]` : ''
  const text = `${signature ?? callAs ?? name}: ${description ?? shortDescription}${fit}${state}`
  return inputSchema === undefined ? text : `${text}\n${JSON.stringify(inputSchema)}`
}

/** Formats descriptions of tools for a model. */
export function describeText({ tools, unknown = [] }: DescribeOutput): string {
  const texts = tools.map(({ name, summary, tool, typescript, exampleRequests, examples = [], notes, readiness }) => {
    const lines = [typescript ?? `${name}: ${tool?.description ?? summary}`]
    if (tool !== undefined) lines.push(JSON.stringify(tool.inputSchema))
    if (exampleRequests !== undefined && exampleRequests.length > 0) lines.push(`For: ${exampleRequests.join(' | ')}`)
    lines.push(...examples.map((example) => `Example: ${exampleText(example)}`))
    if (notes !== undefined) lines.push(notes)
    if (readiness !== undefined) lines.push(`(${readinessText(readiness)})`)
    return lines.join('\n')
  })
  const missing = unknown.map(({ message, hint }) => `${message} ${hint}`)
  return showInvisible([...texts, ...missing].join('\n\n'))
}

/** The document of a tool as Markdown. */
export function toolMarkdown(doc: DescribeOutput['tools'][number]): string {
  const { name, summary, tool, exampleRequests = [], examples = [], notes, tags, category } = doc
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`## ${title}\n\n${lines.map((line) => `- ${line}`).join('\n')}`]
  const labels = [...(category === null ? [] : [category]), ...tags]
  const parts = [
    `# ${name}`,
    tool?.description ?? summary,
    ...(labels.length === 0 ? [] : [`Labels: ${labels.join(', ')}`]),
    ...(tool === undefined ? [] : [`## Arguments\n\n\`\`\`json\n${JSON.stringify(tool.inputSchema, null, 2)}\n\`\`\``]),
    ...list('Requests', exampleRequests),
    ...list('Examples', examples.map(exampleText)),
    ...(notes === undefined ? [] : [`## Notes\n\n${notes}`]),
  ]
  return showInvisible(`${parts.join('\n\n')}\n`)
}
