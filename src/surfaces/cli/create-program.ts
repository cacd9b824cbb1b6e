import { existsSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { errorTable, TooldexError } from '../../base/errors.ts'
import { suggest } from '../../base/suggest.ts'
import { toSentence } from '../../diagnostics/sentences.ts'
import { commandTable } from './command-table.ts'
import type { CliHost } from './host.ts'
import { reportError } from './report-error.ts'

/** Runs one command line and returns the exit code. */
export async function runCommandLine(args: readonly string[], host: CliHost): Promise<number> {
  let code = 0
  const exit = (value: number): void => {
    code = value
  }
  let used: Command | undefined
  try {
    // Without arguments, people get the help and clients get the tools.
    const line = args.length === 0 && host.interactive ? ['--help'] : await withRun(args, host)
    if (line !== args) await rejectMistyped(args, host)
    const program = await createProgram(host, exit, line)
    program.hook('preAction', (_, command) => {
      used = command
    })
    await program.parseAsync(line, { from: 'user' })
    return code
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) return reportError(thrown, host, { json: isJson(args), command: used })
    if (thrown.exitCode === 0) return 0
    // As text, commander has already printed the message.
    return isJson(args) ? reportError(toUsageError(thrown), host, { json: true }) : errorTable.USAGE.exit
  }
}

const isJson = (args: readonly string[]): boolean =>
  args.slice(0, args.includes('--') ? args.indexOf('--') : undefined).includes('--json')

const usageHint = 'tooldex COMMAND --help shows its arguments and options'

/** The messages of commander begin with `error: ` and a lower-case letter. */
function toUsageError({ message }: CommanderError): TooldexError {
  const text = message.slice('error: '.length)
  return new TooldexError('USAGE', toSentence(text.charAt(0).toUpperCase() + text.slice(1)), {
    hint: toSentence(usageHint),
  })
}

/** Builds the commander program with as few commands as the line needs: one, their names only, or all. */
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
    .showHelpAfterError(`(${usageHint})`)
    .configureOutput({
      writeOut: (text) => host.out(text),
      writeErr: (text) => (isJson(line) ? undefined : host.err(text)),
    })
    .addHelpText('after', helpExamples)
  if (isAboutAll(line)) addNames(program)
  else for (const name of commandsFor(line)) (await commandTable[name]?.load())?.(program, host, exit)
  for (const command of program.commands) {
    command.description(commandTable[command.name()]?.summary ?? '')
    inherit(command, program)
  }
  return program
}

/** Whether a line requests the help or the version of the whole program, which need no command but its name. */
const isAboutAll = (line: readonly string[]): boolean =>
  line.length > 0 && (line.every((arg) => ownFlags.has(arg)) || (line.length === 1 && line[0] === 'help'))

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

// Completion reads the options of the other commands.
const needsAll = new Set(['completion', '__complete'])

/** Inserts `run` where the first positional argument is not a command: `tooldex git docker` is `tooldex run git docker`. */
async function withRun(args: readonly string[], host: CliHost): Promise<readonly string[]> {
  if (isAboutAll(args)) return args
  const first = await firstPositional(args, host)
  const isCommand =
    first === undefined
      ? args.some((arg) => ownFlags.has(arg))
      : first === 'help' || first === '__complete' || Object.hasOwn(commandTable, first)
  return isCommand ? args : ['run', ...args]
}

const ownFlags = new Set(['--help', '-h', '--version', '-V'])

/** Options before the first positional argument are those of `run`, which is loaded only to parse them. */
async function firstPositional(args: readonly string[], host: CliHost): Promise<string | undefined> {
  if (!args[0]?.startsWith('-')) return args[0]
  const { commands } = await createProgram(host, () => {}, ['run'])
  const options = commands.flatMap((command) => command.options)
  const takesValue = (flag = '') =>
    options.some(({ long, short, required }) => required && [long, short].includes(flag))
  return args.find((arg, index) => !arg.startsWith('-') && !takesValue(args[index - 1]))
}

/** Rejects an unknown name that resembles a command, instead of looking it up among the configs. */
async function rejectMistyped(args: readonly string[], host: CliHost): Promise<void> {
  const name = await firstPositional(args, host)
  const configs = host.configNames()
  if (name === undefined || configs.includes(name) || existsSync(name)) return
  const suggestion = suggest(name, [...configs, ...Object.keys(commandTable), 'help'])
  // With several arguments those after the first are configs, so the first is one, too.
  const isLone = args.length === 1 && !/[/\\]|\.ya?ml$/i.test(name)
  if (!isLone && (suggestion === undefined || configs.includes(suggestion))) return
  const question = suggestion === undefined ? '' : ` Did you mean '${suggestion}'?`
  const code = suggestion === undefined || configs.includes(suggestion) ? 'CONFIG_NOT_FOUND' : 'USAGE'
  throw new TooldexError(code, `There is no command or config '${name}'.${question}`, {
    hint: 'List the commands with: tooldex --help',
  })
}
