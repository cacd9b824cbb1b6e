import colors from 'picocolors'
import { errorTable } from '../../../base/errors.ts'
import { showInvisible } from '../../../base/invisible-characters.ts'
import { formatProblem } from '../../../base/problem.ts'
import { invoke } from '../../../operations/invoke.ts'
import { lintCatalog } from '../../../operations/lint/lint-catalog.ts'
import { runDoctor } from '../../../operations/server/run-doctor.ts'
import { validateConfigs } from '../../../operations/server/validate-configs.ts'
import { type AddCommand, parseLimit, toJson, withToolOptions } from './command.ts'
import { queryTools, type ServerFlags, withServerOption } from './query-server.ts'

interface ValidateFlags {
  readonly policy?: string
  readonly strict?: boolean
  readonly json?: boolean
}

/** `tooldex validate CONFIG...`: reports all problems of the files. */
export const addValidate: AddCommand = (program, host, exit) => {
  program
    .command('validate')
    .argument('<config...>', 'names of configs, or YAML files')
    .option('--policy <file>', 'policy file to validate against the configs')
    .option('--strict', 'treat unknown keys and everything else tolerated for CLImax as errors')
    .option('--json', 'print JSON')
    .action(async (configs: string[], flags: ValidateFlags) => {
      const input = { configs, policy: flags.policy, strict: flags.strict }
      const answer = await invoke(validateConfigs, input, await host.open({ configs: [] }))
      host.out(flags.json ? toJson(answer) : toText(answer))
      if (answer.invalid > 0) exit(errorTable.CONFIG_INVALID.exit)
    })
}

function toText({ files, valid, invalid }: Awaited<ReturnType<typeof validateConfigs.handle>>): string {
  const lines = files.flatMap(({ file, kind, name, count, valid: good, problems }) => {
    const title = kind === 'policy' ? `policy - ${count} tool rule(s)` : `${name} - ${count} tool(s)`
    const head = good ? `${colors.green('✓')} ${title}` : `${colors.red('✗')} ${file}`
    const marks = { error: colors.red('✗'), warning: colors.yellow('!') }
    return [head, ...problems.map((problem) => `  ${marks[problem.severity]} ${showInvisible(formatProblem(problem))}`)]
  })
  const last = invalid === 0 ? `All ${valid} config(s) valid` : `${valid} valid, ${invalid} invalid`
  return `${[...lines, last].join('\n')}\n`
}

/** `tooldex doctor`: checks the installation and prints hints for problems. */
export const addDoctor: AddCommand = (program, host, exit) => {
  program
    .command('doctor')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) => {
      const answer = await invoke(runDoctor, {}, await host.open({ configs: [] }))
      const marks = { ok: colors.green('✓'), warning: colors.yellow('!'), error: colors.red('✗') }
      const lines = answer.checks.map(({ name, state, message, hint }) => {
        return `${marks[state]} ${name.padEnd(22)} ${message}${hint === undefined ? '' : `\n  ${''.padEnd(22)} ${hint}`}`
      })
      host.out(flags.json ? toJson(answer) : `${lines.join('\n')}\n`)
      if (!answer.ok) exit(1)
    })
}

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
    host.out(flags.json ? toJson(answer) : lintText(answer))
    const { length } = answer.findings
    if (flags.maxFindings === undefined || length <= flags.maxFindings) return
    host.err(`${length} findings are more than the ${flags.maxFindings} allowed.\n`)
    exit(1)
  })
}

function lintText({ findings, sources, summary }: Answer): string {
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
