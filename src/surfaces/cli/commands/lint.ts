import colors from 'picocolors'
import { showInvisible } from '../../../base/visible-text.ts'
import { lintCatalog } from '../../../operations/lint/lint-catalog.ts'
import { type AddCommand, parseLimit, toJson, withToolOptions } from './command.ts'
import { queryTools, type ServerFlags, withServerOption } from './query-server.ts'

interface LintFlags extends ServerFlags {
  readonly maxFindings?: number
}

type Answer = Awaited<ReturnType<typeof lintCatalog.handle>>
type Finding = Answer['findings'][number]

const maxShown = 10

/** `tooldex lint [CONFIG...]`: reports tools that are hard to find, to distinguish or to call. */
export const addLint: AddCommand = (program, host, exit) => {
  const command = program
    .command('lint')
    .argument('[config...]', 'names of configs, or YAML files (default: all named configs, or all tools of the server)')
    .option('--max-findings <n>', 'fail if there are more findings than this', parseLimit)
  withServerOption(withToolOptions(command)).action(async (names: string[], flags: LintFlags) => {
    const configs = [...names, ...(flags.config ?? [])]
    const options = { ...flags, ...(configs.length === 0 ? {} : { config: configs }) }
    const answer = await queryTools(host, options, { operation: lintCatalog, input: {} })
    host.out(flags.json ? toJson(answer) : toText(answer))
    const { length } = answer.findings
    if (flags.maxFindings === undefined || length <= flags.maxFindings) return
    host.err(`${length} findings are more than the ${flags.maxFindings} allowed.\n`)
    exit(1)
  })
}

function toText({ findings, sources, summary }: Answer): string {
  const rules = [...new Set(findings.map((finding) => finding.rule))]
  const groups = rules.map((rule) => groupText(findings.filter((finding) => finding.rule === rule)))
  const costs = sources.map(
    ({ source, tools, tokens }) => `  ${showInvisible(source)}: ${tools} tool(s), ${tokens} tokens`,
  )
  return [...groups, ['Token cost of listing all tools', ...costs].join('\n'), summary].join('\n\n').concat('\n')
}

/** The findings of one rule, most severe first, limited in number. */
function groupText(findings: readonly Finding[]): string {
  const marks = { error: colors.red('✗'), warning: colors.yellow('!'), info: colors.dim('·') }
  const order = Object.keys(marks)
  const sorted = [...findings].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
  const lines = sorted.slice(0, maxShown).map(({ severity, tool, message }) => {
    return `  ${marks[severity]} ${showInvisible(tool)}: ${showInvisible(message)}`
  })
  const rest = findings.length - lines.length
  const title = `${colors.bold(sorted[0]?.rule ?? '')} (${findings.length})  ${colors.dim(sorted[0]?.hint ?? '')}`
  return [title, ...lines, ...(rest > 0 ? [`  and ${rest} more; list all with --json`] : [])].join('\n')
}
