import type { Command } from 'commander'
import { TooldexError } from '../../../base/errors.ts'
import { readSchemaParameters } from '../../../json-schema/read-parameters.ts'
import { clientNames } from '../../../operations/clients/client-files.ts'
import type { CliHost } from '../host.ts'
import type { AddCommand } from './command.ts'

const scripts: Record<string, string> = {
  bash: `_tooldex() {
  local IFS=$'\\n'
  COMPREPLY=($(tooldex __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _tooldex tooldex
`,
  zsh: `#compdef tooldex
_tooldex() {
  local -a found
  found=(\${(f)"$(tooldex __complete -- "\${(@)words[2,$CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -- $found; else _files; fi
}
compdef _tooldex tooldex
`,
  fish: `function __tooldex_complete
  set -l words (commandline -opc) (commandline -ct)
  tooldex __complete -- $words[2..-1] 2>/dev/null
end
complete -c tooldex -a '(__tooldex_complete)'
`,
}

/** `tooldex completion SHELL`: prints a script, and adds the hidden command that it calls. */
export const addCompletion: AddCommand = (program, host) => {
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', '\nFor example in ~/.bashrc: source <(tooldex completion bash)')
    .action((shell: string) => {
      const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
      if (script === undefined)
        throw new TooldexError('USAGE', `There is no completion for '${shell}'.`, { hint: 'Use bash, zsh or fish.' })
      host.out(script)
    })
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const found = await complete(words, program, host)
      host.out(found.map((word) => `${word}\n`).join(''))
    })
}

/** Returns the completions of the last argument. */
async function complete(words: readonly string[], program: Command, host: CliHost): Promise<readonly string[]> {
  const typed = words.at(-1) ?? ''
  const [name, ...rest] = words.slice(0, -1)
  const visible = program.commands.filter((command) => !command.name().startsWith('_'))
  const command = visible.find((candidate) => candidate.name() === name)
  const candidates =
    command === undefined
      ? [...(name === undefined ? visible.map((candidate) => candidate.name()) : []), ...host.configNames()]
      : [...(typed.startsWith('-') ? optionsOf(command) : []), ...(await valuesFor(command.name(), rest, host))]
  return candidates.filter((word) => word.startsWith(typed))
}

const optionsOf = (command: Command) =>
  command.options.filter((option) => !option.hidden).map((option) => option.long ?? '')

async function valuesFor(command: string, before: readonly string[], host: CliHost): Promise<readonly string[]> {
  if (command === 'completion') return Object.keys(scripts)
  if (command === 'import') return before.length === 0 ? ['help'] : []
  if ((command === 'install' || command === 'uninstall') && before.length === 0) return clientNames
  if (command === 'call' || command === 'describe') return toolCompletions(command, before, host)
  return ['run', 'list', 'validate', 'install'].includes(command) ? host.configNames() : []
}

async function toolCompletions(command: string, before: readonly string[], host: CliHost): Promise<readonly string[]> {
  const { catalog } = await host.open({ logLevel: 'ERROR' })
  const tools = await catalog.open()
  const [first] = before.filter((word) => !word.startsWith('-'))
  const entry = command === 'call' && first !== undefined ? tools.find(first) : undefined
  if (entry === undefined) return tools.list().map(({ tool }) => tool.name)
  return [...readSchemaParameters(entry.tool.inputSchema).names].map((key) => `--${key.replaceAll('_', '-')}`)
}
