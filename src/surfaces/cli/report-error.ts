import type { Command } from 'commander'
import colors from 'picocolors'
import { errorTable, TooldexError, toErrorBody } from '../../base/errors.ts'
import { createLogger, logged } from '../../base/logger.ts'
import { formatProblem } from '../../base/problem.ts'
import { showInvisible } from '../../base/visible-text.ts'
import type { CliHost } from './host.ts'
import { optionHint } from './option-hint.ts'

/** Options of an error report. */
interface ReportOptions {
  readonly json: boolean
  /** The command that failed, if the command line was parsed that far. */
  readonly command?: Command | undefined
}

/** Prints an error as text on stderr or as JSON on stdout, and returns its exit code. */
export function reportError(thrown: unknown, host: CliHost, { json, command }: ReportOptions): number {
  // Operations log their own failures.
  const error = thrown instanceof TooldexError ? thrown : logged(errorLogger(host), thrown)
  if (json) host.out(`${JSON.stringify({ error: toErrorBody(error) }, null, 2)}\n`)
  else host.err(`${errorText(error, command)}\n`)
  return error.exitCode
}

const errorLogger = (host: CliHost) =>
  createLogger({ level: 'ERROR', file: process.env.TOOLDEX_LOG_FILE, stderr: (line) => host.err(line) })

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
