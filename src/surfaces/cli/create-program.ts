import { Command, CommanderError } from 'commander'
import { errorTable } from '../../base/errors.ts'
import { addCall } from './commands/call.ts'
import { addCompletion } from './commands/completion.ts'
import { addDemo } from './commands/demo.ts'
import { addDescribe } from './commands/describe.ts'
import { addDoctor } from './commands/doctor.ts'
// import { addImport } from './commands/import.ts'
import { addInstall } from './commands/install.ts'
import { addList } from './commands/list.ts'
import { addRun } from './commands/run.ts'
import { addSearch } from './commands/search.ts'
import { addSkill } from './commands/skill.ts'
import { addValidate } from './commands/validate.ts'
import type { CliHost } from './host.ts'
import { reportError } from './report-error.ts'

const adders = [
  addRun, addList, addValidate, addSearch, addDescribe, addCall,
  addInstall, addSkill, addDoctor, addCompletion, addDemo,
]

/** Runs one command line and gives the exit code. */
export async function runCommandLine(words: readonly string[], host: CliHost): Promise<number> {
  let code = 0
  const program = createProgram(host, (given) => {
    code = given
  })
  try {
    await program.parseAsync(withRun(words, program), { from: 'user' })
    return code
  } catch (thrown) {
    // commander has said what is wrong already; only the code is ours.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : errorTable.USAGE.exit
    return reportError(thrown, host, words.includes('--json'))
  }
}

/** The whole command line as commander sees it. */
export function createProgram(host: CliHost, exit: (code: number) => void): Command {
  const program = new Command('tooldex')
    .description('One place where the tools of LLM agents are described, found, governed and run.')
    .version(host.version)
    .exitOverride()
    .enablePositionalOptions()
    .showHelpAfterError('(tooldex COMMAND --help says what it takes)')
    .configureOutput({ writeOut: (text) => host.out(text), writeErr: (text) => host.err(text) })
    .addHelpText('after', helpExamples)
  for (const add of adders) add(program, host, exit)
  for (const command of program.commands) inherit(command, program)
  return program
}

function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent)
  for (const inner of command.commands) inherit(inner, command)
}

const helpExamples = `
Examples:
  tooldex git docker                        serve git and docker to an MCP client
  tooldex search "undo my last commit"      find a tool
  tooldex call git_log --max-count 3        run one
  tooldex install claude-code git           add it to a client`

/** `tooldex git docker` means `tooldex run git docker`: put the word in where the first plain word is no command. */
export function withRun(words: readonly string[], program: Command): readonly string[] {
  const run = program.commands.find((command) => command.name() === 'run')
  const takesValue = (word: string) =>
    run?.options.some((option) => option.required && (option.long === word || option.short === word)) ?? false
  const plain = words.find((word, index) => !word.startsWith('-') && !takesValue(words[index - 1] ?? ''))
  if (plain === undefined || plain === 'help' || program.commands.some((command) => command.name() === plain)) return words
  return ['run', ...words]
}
