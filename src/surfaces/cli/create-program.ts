import { existsSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { errorTable, TooldexError } from '../../base/errors.ts'
import { suggest } from '../../base/suggest.ts'
import type { AddCommand } from './commands/command.ts'
import type { CliHost } from './host.ts'
import { reportError } from './report-error.ts'

// Each command is loaded when it is asked for: a server that a client starts should not wait for the others.
const loaders: Record<string, () => Promise<AddCommand>> = {
  run: async () => (await import('./commands/run.ts')).addRun,
  list: async () => (await import('./commands/list.ts')).addList,
  validate: async () => (await import('./commands/validate.ts')).addValidate,
  search: async () => (await import('./commands/search.ts')).addSearch,
  describe: async () => (await import('./commands/describe.ts')).addDescribe,
  call: async () => (await import('./commands/call.ts')).addCall,
  import: async () => (await import('./commands/import.ts')).addImport,
  install: async () => (await import('./commands/install.ts')).addInstall,
  uninstall: async () => (await import('./commands/install.ts')).addUninstall,
  skill: async () => (await import('./commands/skill.ts')).addSkill,
  eval: async () => (await import('./commands/eval.ts')).addEval,
  lint: async () => (await import('./commands/lint.ts')).addLint,
  learning: async () => (await import('./commands/learning.ts')).addLearning,
  db: async () => (await import('./commands/db.ts')).addDb,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
  completion: async () => (await import('./commands/completion.ts')).addCompletion,
  serve: async () => (await import('./commands/serve.ts')).addServe,
  worker: async () => (await import('./commands/worker.ts')).addWorker,
  executions: async () => (await import('./commands/executions.ts')).addExecutions,
  envs: async () => (await import('./commands/envs.ts')).addEnvs,
  secrets: async () => (await import('./commands/secrets.ts')).addSecrets,
  tools: async () => (await import('./commands/tools.ts')).addTools,
  apply: async () => (await import('./commands/apply.ts')).addApply,
  categories: async () => (await import('./commands/categories.ts')).addCategories,
  tags: async () => (await import('./commands/categories.ts')).addTags,
  keys: async () => (await import('./commands/keys.ts')).addKeys,
  audit: async () => (await import('./commands/keys.ts')).addAudit,
  demo: async () => (await import('./commands/demo.ts')).addDemo,
}

/** Runs one command line and gives the exit code. */
export async function runCommandLine(words: readonly string[], host: CliHost): Promise<number> {
  let code = 0
  const exit = (given: number): void => {
    code = given
  }
  try {
    // Bare, a person wants to know what there is; a client wants the tools.
    const line = words.length === 0 && host.interactive ? ['--help'] : withRun(words)
    if (line !== words) refuseMistyped(words, host)
    const program = await createProgram(host, exit, line[0])
    await program.parseAsync(line, { from: 'user' })
    return code
  } catch (thrown) {
    // commander has said what is wrong already; only the code is ours.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : errorTable.USAGE.exit
    return reportError(thrown, host, words.includes('--json'))
  }
}

/** The command line as commander sees it: one command where it is known which, else all. */
export async function createProgram(host: CliHost, exit: (code: number) => void, only?: string): Promise<Command> {
  const program = new Command('tooldex')
    .description('One place where the tools of LLM agents are described, found, governed and run.')
    .version(host.version)
    .exitOverride()
    .enablePositionalOptions()
    .showHelpAfterError('(tooldex COMMAND --help says what it takes)')
    .configureOutput({ writeOut: (text) => host.out(text), writeErr: (text) => host.err(text) })
    .addHelpText('after', helpExamples)
  const wanted =
    only !== undefined && Object.hasOwn(loaders, only) && !needsAll.has(only) ? [only] : Object.keys(loaders)
  for (const name of wanted) (await loaders[name]?.())?.(program, host, exit)
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
      : plain === 'help' || plain === '__complete' || Object.hasOwn(loaders, plain)
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
  const meant = suggest(word, [...configs, ...Object.keys(loaders), 'help'])
  // Of several words those after the first are configs, so that the first is one, too.
  const isLone = words.length === 1 && !/[/\\]|\.ya?ml$/i.test(word)
  if (!isLone && (meant === undefined || configs.includes(meant))) return
  const question = meant === undefined ? '' : ` Did you mean '${meant}'?`
  const code = meant === undefined || configs.includes(meant) ? 'CONFIG_NOT_FOUND' : 'USAGE'
  throw new TooldexError(code, `There is no command or config '${word}'.${question}`, {
    hint: 'List the commands with: tooldex --help',
  })
}
