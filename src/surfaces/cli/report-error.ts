import type { Command } from 'commander'
import colors from 'picocolors'
import { errorTable, TooldexError, toErrorBody } from '../../base/errors.ts'
import { showInvisible, toOneLine } from '../../base/invisible-characters.ts'
import { createLogger, toLoggedError } from '../../base/logger.ts'
import { formatProblem, fromPointer, type Problem } from '../../base/problem.ts'
import { readSetting } from '../../rules/settings.ts'
import type { CliHost } from './host.ts'

/** Options of an error report. */
interface ReportOptions {
  readonly json: boolean
  /** The command that failed, if the command line was parsed that far. */
  readonly command?: Command | undefined
}

/** Prints an error as text on stderr or as JSON on stdout, and returns its exit code. */
export function reportError(thrown: unknown, host: CliHost, { json, command }: ReportOptions): number {
  // Operations log their own failures.
  const error = thrown instanceof TooldexError ? thrown : toLoggedError(errorLogger(host), thrown)
  if (json) host.out(`${JSON.stringify({ error: toErrorBody(error) }, null, 2)}\n`)
  else host.err(`${errorText(error, command)}\n`)
  return error.exitCode
}

const errorLogger = (host: CliHost) =>
  createLogger({ level: 'ERROR', file: readSetting('TOOLDEX_LOG_FILE'), stderr: (line) => host.err(line) })

function errorText(error: TooldexError, command: Command | undefined): string {
  const lines = [`${colors.red('error:')} ${showInvisible(error.message)}`]
  for (const problem of error.problems) {
    const mark = problem.severity === 'error' ? colors.red('✗') : colors.yellow('!')
    const text = showInvisible(formatProblem(problem))
    // A problem with a location gets a line, even if the message repeats it.
    if (problem.file !== undefined || !error.message.includes(problem.message)) lines.push(`  ${mark} ${text}`)
  }
  return [...lines, `${colors.cyan('next:')} ${nextStep(error, command)}`].join('\n')
}

/** Names the options with problems, if the error has no specific hint. */
function nextStep({ code, personHint, problems }: TooldexError, command: Command | undefined): string {
  const isDefault = code === 'INPUT_INVALID' && personHint === errorTable.INPUT_INVALID.personHint
  const isOfFiles = problems.some(({ file }) => file !== undefined)
  return (isDefault && !isOfFiles && command !== undefined ? optionHint(command, problems) : undefined) ?? personHint
}

const maxValue = 100

/** Names the options and arguments of a command line that problems are about, with their values and what they accept. */
function optionHint(command: Command, problems: readonly Problem[]): string | undefined {
  const inputs = listInputs(command)
  const lines = problems.flatMap(({ pointer = '' }) => {
    const [field = '', index] = fromPointer(pointer)
    const input = findInput(inputs, field)
    return input === undefined ? [] : [describe(input, index)]
  })
  return lines.length === 0 ? undefined : [...new Set(lines)].join('\n      ')
}

interface Input {
  readonly name: string
  /** The spelling on the command line: `--limit`, or `<query>` for an argument. */
  readonly written: string
  readonly accepted: string
  readonly value: unknown
}

function listInputs(command: Command): readonly Input[] {
  const options = command.options.map((option) => {
    const name = option.attributeName()
    const accepted = ` ${option.flags}: ${option.description}`
    return { name, written: option.long ?? option.flags, accepted, value: command.getOptionValue(name) }
  })
  const args = command.registeredArguments.map((argument, index) => {
    const name = argument.name()
    const accepted = argument.description === '' ? '' : ` <${name}>: ${argument.description}`
    return { name, written: `<${name}>`, accepted, value: command.processedArgs[index] }
  })
  return [...options, ...args].filter(({ value }) => value !== undefined)
}

/** Field names may extend the option name: `--budget` sets budgetTokens, and a repeated `--tag` sets tags. */
function findInput(inputs: readonly Input[], field: string): Input | undefined {
  const near = inputs.filter(({ name }) => name.length >= 3 && field.startsWith(name))
  return inputs.find(({ name }) => name === field) ?? near.sort((a, b) => b.name.length - a.name.length)[0]
}

function describe({ written, accepted, value }: Input, index: string | undefined): string {
  const one = Array.isArray(value) && index !== undefined ? value[Number(index)] : value
  const text = toOneLine(typeof one === 'string' ? one : JSON.stringify(one))
  const excerpt = text.length > maxValue ? `${text.slice(0, maxValue)}…` : text
  return `${text === '' ? `Set ${written}, which is empty.` : `Correct ${written} '${excerpt}'.`}${accepted}`
}
