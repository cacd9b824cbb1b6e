import { existsSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { errorTable, TooldexError } from '../../base/errors.ts'
import { suggest } from '../../base/suggest.ts'
import { commandTable } from './command-table.ts'
import type { CliHost } from './host.ts'
import { reportError } from './report-error.ts'

/** Runs one command line and gives the exit code. */
export async function runCommandLine(words: readonly string[], host: CliHost): Promise<number> {
  let code = 0
  const exit = (given: number): void => {
    code = given
  }
  let used: Command | undefined
  try {
    // Bare, a person wants to know what there is; a client wants the tools.
    const line = words.length === 0 && host.interactive ? ['--help'] : withRun(words)
    if (line !== words) refuseMistyped(words, host)
    const program = await createProgram(host, exit, line)
    program.hook('preAction', (_, command) => {
      used = command
    })
    await program.parseAsync(line, { from: 'user' })
    return code
  } catch (thrown) {
    // commander has said what is wrong already; only the code is ours.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : errorTable.USAGE.exit
    return reportError(thrown, host, { json: words.includes('--json'), command: used })
  }
}

/** The command line as commander sees it: the command that is used, their names where only those are, else all. */
export async function createProgram(
  host: CliHost,
  exit: (code: number) => void,
  line: readonly string[] = [],
): Promise<Command> {
  const program = new Command('tooldex')
    .description('One place where the tools of LLM agents are described, found, governed and run.')
    .version(host.version)
    .exitOverride()
    .enablePositionalOptions()
    .showHelpAfterError('(tooldex COMMAND --help shows its arguments and options)')
    .configureOutput({ writeOut: (text) => host.out(text), writeErr: (text) => host.err(text) })
    .addHelpText('after', helpExamples)
  if (isAboutAll(line)) addNames(program)
  else for (const name of commandsFor(line)) (await commandTable[name]?.load())?.(program, host, exit)
  for (const command of program.commands) {
    command.description(commandTable[command.name()]?.summary ?? '')
    inherit(command, program)
  }
  return program
}

/** Whether a line asks for the help or the version of the whole program, which need no command but its name. */
const isAboutAll = (line: readonly string[]): boolean =>
  line.length > 0 && (line.every((word) => ownFlags.has(word)) || (line.length === 1 && line[0] === 'help'))

function addNames(program: Command): void {
  for (const [name, { hidden = false }] of Object.entries(commandTable)) program.command(name, { hidden })
}

function commandsFor(line: readonly string[]): readonly string[] {
  const used = line[0] === 'help' ? line[1] : line[0]
  const isOne = used !== undefined && Object.hasOwn(commandTable, used) && !needsAll.has(used)
  return isOne ? [used] : Object.keys(commandTable)
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

// Completion looks at the options of the other commands.
const needsAll = new Set(['completion', '__complete'])
const runOptionsWithValue = new Set([
  '--policy',
  '--pin',
  '--server',
  '--log-level',
  '--transport',
  '--concurrency',
  '--max-output',
  '--max-file',
  '--containment',
])

/** `tooldex git docker` means `tooldex run git docker`: put the word in where the first plain word is not a command. */
export function withRun(words: readonly string[]): readonly string[] {
  const plain = firstPlain(words)
  const isCommand =
    plain === undefined
      ? words.some((word) => ownFlags.has(word))
      : plain === 'help' || plain === '__complete' || Object.hasOwn(commandTable, plain)
  return isCommand ? words : ['run', ...words]
}

const ownFlags = new Set(['--help', '-h', '--version', '-V'])

const firstPlain = (words: readonly string[]) =>
  words.find((word, index) => !word.startsWith('-') && !runOptionsWithValue.has(words[index - 1] ?? ''))

/** A word that is no config but nearly a command was meant as one, so it is not looked for among the configs. */
function refuseMistyped(words: readonly string[], host: CliHost): void {
  const word = firstPlain(words)
  const configs = host.configNames()
  if (word === undefined || configs.includes(word) || existsSync(word)) return
  const meant = suggest(word, [...configs, ...Object.keys(commandTable), 'help'])
  // Of several words those after the first are configs, so that the first is one, too.
  const isLone = words.length === 1 && !/[/\\]|\.ya?ml$/i.test(word)
  if (!isLone && (meant === undefined || configs.includes(meant))) return
  const question = meant === undefined ? '' : ` Did you mean '${meant}'?`
  const code = meant === undefined || configs.includes(meant) ? 'CONFIG_NOT_FOUND' : 'USAGE'
  throw new TooldexError(code, `There is no command or config '${word}'.${question}`, {
    hint: 'List the commands with: tooldex --help',
  })
}
