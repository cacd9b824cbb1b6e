import colors from 'picocolors'
import { errorTable } from '../../../base/errors.ts'
import { formatProblem } from '../../../base/problem.ts'
import { showInvisible } from '../../../base/visible-text.ts'
import { invoke } from '../../../operations/invoke.ts'
import { validateConfigs } from '../../../operations/server/validate-configs.ts'
import { type AddCommand, toJson } from './command.ts'

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
