import { Option } from 'commander'
import { type Explanation, SearchMode } from '../../../contract/search.ts'
import { maxShortDescription } from '../../../contract/summary.ts'
import { searchTools } from '../../../operations/search/search-tools.ts'
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
import { ask, withServerOption } from './query-server.ts'

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

/** `tooldex search WORDS`: the tools that do what the words say. */
export const addSearch: AddCommand = (program, host) => {
  const command = program
    .command('search')
    .argument('[words...]', 'what the tool should do')
    .option('--category <name>', 'only tools of this category')
    .option('--cli <name>', 'only tools of this program')
    .addOption(new Option('--tag <tag>', 'only tools with this tag').argParser(collect))
    .addOption(new Option('--level <level>', 'how much to show of each').choices(['line', 'summary', 'schema']))
    .option('--limit <n>', 'at most this many', parseLimit)
    .option('--cursor <cursor>', 'go on where the last answer ended')
    .option('--budget <tokens>', 'fit the answer into this many tokens', parseCount)
    .addOption(new Option('--mode <mode>', 'how to rank').choices(SearchMode.options))
    .option('--min-score <share>', 'leave out what is less likely than this, from 0 to 1', Number)
    .option('--facets', 'count the values of every filter among all answers')
    .option('--explain', 'say why each answer is where it is')
    .option('--explain-tool <tool>', 'say why this tool is or is not among the answers')
  withServerOption(withToolOptions(withStateFilters(command))).action(async (words: string[], flags: SearchFlags) => {
    const query = words.length === 0 ? undefined : words.join(' ')
    const input = { ...toInput(flags), query }
    const answer = await ask(host, flags, { operation: searchTools, input, combined: true })
    host.out(flags.json ? toJson(answer) : toText(answer, host.columns, namedFilters(flags)))
  })
}

function toInput(flags: SearchFlags) {
  const { category, cli, source, status, readiness, limit, cursor, mode, minScore, facets, explain, explainTool } =
    flags
  const { tag: tags, budget: budgetTokens } = flags
  // A person at a terminal pays no tokens.
  const level = flags.level ?? (flags.json || budgetTokens !== undefined ? undefined : 'summary')
  const filters = { category, cli, tags, source, status, readiness }
  return { ...filters, level, limit, cursor, budgetTokens, mode, minScore, facets, explain, explainTool }
}

/** The filters that were given, as they were. */
function namedFilters({ category, cli, tag, source, status, readiness }: SearchFlags): string {
  const given = Object.entries({ category, cli, tag, source, status, readiness })
  return given
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
    return `No tool matches with ${filters}. Try other words; --facets without the filters counts what there is.\n`
  if (hits.length === 0) return 'No tool matches. Try other words.\n'
  const rows = hits.map((hit) => {
    const { readiness: state } = hit
    const text = withEllipsis(hit.shortDescription)
    const what = state === undefined ? text : `${text} (not ready: ${state.reason ?? state.state})`
    return [hit.score.toFixed(2), hit.callAs ?? hit.name, what, hit.category ?? '']
  })
  const more = answer.nextCursor === undefined ? '' : `${answer.omitted} more: --cursor ${answer.nextCursor}\n`
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
  return `${table}\n${more}${[...why, ...schemas, ...facetLines(answer)].map((part) => `${part}\n`).join('')}`
}

/** A description that was cut at its limit ends with a whole word, and shows that there is more. */
function withEllipsis(text: string): string {
  if (text.length < maxShortDescription || /[.!?)]$/.test(text)) return text
  const space = text.lastIndexOf(' ')
  return `${text.slice(0, space > 0 ? space : text.length)}…`
}

function facetLines({ facets }: Awaited<ReturnType<typeof searchTools.handle>>): string[] {
  const rows = Object.entries(facets ?? {}).filter(([, counts]) => counts.length > 0)
  const lines = rows.map(([name, counts]) => {
    return `${name}: ${counts.map(({ value, count }) => `${value} ${count}`).join(', ')}`
  })
  return lines.length === 0 ? [] : [`\n${lines.join('\n')}`]
}

function explanationText({ readAs, terms, formula }: Explanation): string {
  const words = terms.map(
    ({ term, fields, score }) => `  ${score.toFixed(2).padStart(7)}  ${term} (${fields.join(', ')})`,
  )
  return [...(readAs === undefined ? [] : [`read as: ${readAs}`]), formula, ...words].join('\n')
}
