import { Option } from 'commander'
import { type Explanation, SearchMode } from '../../../contract/search.ts'
import { searchTools } from '../../../operations/search/search-tools.ts'
import { readinessText, verdictTexts } from '../../text/result-text.ts'
import { formatTable } from '../format-table.ts'
import {
  type AddCommand,
  collect,
  parseCount,
  parseLimit,
  type StateFlags,
  type ToolOptions,
  toJson,
  withStateFilters,
  withToolOptions,
} from './command.ts'
import { queryTools, withServerOption } from './query-server.ts'

interface SearchFlags extends ToolOptions, StateFlags {
  readonly server?: string
  readonly category?: string
  readonly cli?: string
  readonly tag?: string[]
  readonly level?: string
  readonly limit?: number
  readonly cursor?: string
  readonly budget?: number
  readonly mode?: string
  readonly minScore?: number
  readonly facets?: boolean
  readonly explain?: boolean
  readonly explainTool?: string
}

/** `tooldex search QUERY`: finds tools for a task. */
export const addSearch: AddCommand = (program, host) => {
  const command = program
    .command('search')
    .argument('[words...]', 'task for the tool')
    .option('--category <name>', 'only tools of this category')
    .option('--cli <name>', 'only tools of this program')
    .addOption(new Option('--tag <tag>', 'only tools with this tag').argParser(collect))
    .addOption(new Option('--level <level>', 'amount of detail for each tool').choices(['line', 'summary', 'schema']))
    .option('--limit <n>', 'maximum number of results', parseLimit)
    .option('--cursor <cursor>', 'cursor of the next page')
    .option('--budget <tokens>', 'limit the result to this many tokens', parseCount)
    .addOption(new Option('--mode <mode>', 'ranking method').choices(SearchMode.options))
    .option('--min-score <share>', 'omit tools with a lower score, from 0 to 1', Number)
    .option('--facets', 'count the values of every filter over all results')
    .option('--explain', 'explain the rank of each result')
    .option('--explain-tool <tool>', 'explain why this tool is or is not among the results')
  withServerOption(withToolOptions(withStateFilters(command))).action(async (words: string[], flags: SearchFlags) => {
    const query = words.length === 0 ? undefined : words.join(' ')
    const input = { ...toInput(flags), query }
    const answer = await queryTools(host, flags, { operation: searchTools, input, combined: true })
    host.out(flags.json ? toJson(answer) : toText(answer, host.columns, namedFilters(flags)))
  })
}

function toInput(flags: SearchFlags) {
  const {
    category,
    cli,
    source,
    status,
    executor,
    readiness,
    limit,
    cursor,
    mode,
    minScore,
    facets,
    explain,
    explainTool,
  } = flags
  const { tag: tags, budget: budgetTokens } = flags
  // Tokens do not matter at a terminal.
  const level = flags.level ?? (flags.json || budgetTokens !== undefined ? undefined : 'summary')
  const filters = { category, cli, tags, source, status, executor, readiness }
  return { ...filters, level, limit, cursor, budgetTokens, mode, minScore, facets, explain, explainTool }
}

/** The filters as they were typed. */
function namedFilters({ category, cli, tag, source, status, executor, readiness }: SearchFlags): string {
  const filters = Object.entries({ category, cli, tag, source, status, executor, readiness })
  return filters
    .flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${[value].flat().join(', ')}`]))
    .join(' ')
}

function toText(answer: Awaited<ReturnType<typeof searchTools.handle>>, columns: number, filters: string): string {
  if (answer.mode === 'summary') {
    const rows = (answer.summary ?? []).map((cli) => [
      cli.name,
      String(cli.toolCount),
      cli.category ?? '',
      cli.description,
    ])
    return `${formatTable(['CLI', 'Tools', 'Category', 'Description'], rows, columns)}\n`
  }
  const hits = answer.results ?? []
  if (hits.length === 0 && answer.omitted > 0)
    return `${answer.omitted} tools match, but none fits the limit or budget.\n`
  if (hits.length === 0 && filters !== '')
    return `No tool matches with ${filters}. Try other words, or list the available values with --facets and without filters.\n`
  if (hits.length === 0) return 'No tool matches. Try other words.\n'
  const verdict = answer.fit === undefined ? '' : `${verdictTexts[answer.fit]}\n\n`
  const rows = hits.map((hit) => {
    const { readiness: state } = hit
    const text = hit.shortDescription
    const what = state === undefined ? text : `${text} (${readinessText(state)})`
    return [hit.score.toFixed(2), hit.callAs ?? hit.name, what, hit.category ?? '']
  })
  const next = answer.nextCursor === undefined ? '' : `${answer.omitted} more: --cursor ${answer.nextCursor}\n`
  const more = `${next}${answer.advice === undefined ? '' : `${answer.advice}\n`}`
  const why = hits.flatMap((hit) => (hit.explanation ? [`\n${hit.name}: ${explanationText(hit.explanation)}`] : []))
  const { explained } = answer
  if (explained) {
    const details = explained.explanation ? `\n${explanationText(explained.explanation)}` : ''
    why.push(`\n${explained.tool}: ${explained.reason}${details}`)
  }
  const schemas = hits.flatMap((hit) =>
    hit.inputSchema ? [`\n${hit.signature}\n${JSON.stringify(hit.inputSchema, null, 2)}`] : [],
  )
  const table = formatTable(['Score', 'Tool', 'Description', 'Category'], rows, columns)
  return `${verdict}${table}\n${more}${[...why, ...schemas, ...facetLines(answer)].map((part) => `${part}\n`).join('')}`
}

const maxFacetValues = 20

function facetLines({ facets }: Awaited<ReturnType<typeof searchTools.handle>>): string[] {
  const rows = Object.entries(facets ?? {}).filter(([, counts]) => counts.length > 0)
  const lines = rows.map(([name, counts]) => {
    const shown = counts.slice(0, maxFacetValues).map(({ value, count }) => `${value} ${count}`)
    const more = counts.length > shown.length ? [`${counts.length - shown.length} more`] : []
    return `${name}: ${[...shown, ...more].join(', ')}`
  })
  return lines.length === 0 ? [] : [`\n${lines.join('\n')}`]
}

function explanationText({ readAs, terms, formula }: Explanation): string {
  const words = terms.map(
    ({ term, fields, score }) => `  ${score.toFixed(2).padStart(7)}  ${term} (${fields.join(', ')})`,
  )
  return [...(readAs === undefined ? [] : [`read as: ${readAs}`]), formula, ...words].join('\n')
}
