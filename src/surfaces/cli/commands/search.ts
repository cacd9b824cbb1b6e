import { Option } from 'commander'
import { invoke } from '../../../operations/invoke.ts'
import { searchTools } from '../../../operations/search-tools.ts'
import { formatTable } from '../format-table.ts'
import {
  type AddCommand,
  collect,
  parseCount,
  parseLimit,
  type ToolOptions,
  toJson,
  toOpenOptions,
  withToolOptions,
} from './command.ts'

interface SearchFlags extends ToolOptions {
  readonly category?: string
  readonly cli?: string
  readonly tag?: string[]
  readonly level?: string
  readonly limit?: number
  readonly cursor?: string
  readonly budget?: number
}

/** `tooldex search WORDS`: the tools that do what the words say. */
export const addSearch: AddCommand = (program, host) => {
  const command = program
    .command('search')
    .description('find tools by what they do; without words, an overview')
    .argument('[words...]', 'what the tool should do')
    .option('--category <name>', 'only tools of this category')
    .option('--cli <name>', 'only tools of this program')
    .addOption(new Option('--tag <tag>', 'only tools with this tag').argParser(collect))
    .addOption(new Option('--level <level>', 'how much to show of each').choices(['line', 'summary', 'schema']))
    .option('--limit <n>', 'at most this many', parseLimit)
    .option('--cursor <cursor>', 'go on where the last answer ended')
    .option('--budget <tokens>', 'fit the answer into this many tokens', parseCount)
  withToolOptions(command).action(async (words: string[], flags: SearchFlags) => {
    const { category, cli, tag: tags, level, limit, cursor, budget: budgetTokens } = flags
    const query = words.length === 0 ? undefined : words.join(' ')
    const input = { query, category, cli, tags, level, limit, cursor, budgetTokens }
    const answer = await invoke(searchTools, input, host.open(toOpenOptions(flags)))
    host.out(flags.json ? toJson(answer) : toText(answer, host.columns))
  })
}

function toText(answer: Awaited<ReturnType<typeof searchTools.handle>>, columns: number): string {
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
  if (hits.length === 0) return 'No tool matches. Try other words.\n'
  const rows = hits.map((hit) => [hit.name, hit.shortDescription, hit.namespace ?? '', hit.category ?? ''])
  const more = answer.nextCursor === undefined ? '' : `${answer.omitted} more: --cursor ${answer.nextCursor}\n`
  const schemas = hits.flatMap((hit) =>
    hit.inputSchema ? [`\n${hit.signature}\n${JSON.stringify(hit.inputSchema, null, 2)}`] : [],
  )
  return `${formatTable(['Tool', 'Description', 'CLI', 'Category'], rows, columns)}\n${more}${schemas.join('\n')}`
}
