import { type ErrorCode, errorTable } from '../../../base/errors.ts'
import { parseExactNumbers } from '../../../base/exact-numbers.ts'
import { toOneLine } from '../../../base/invisible-characters.ts'
import { sameJson } from '../../../base/json-values.ts'
import type { RunOutcome } from '../../../contract/run.ts'
import type { CallAnswer } from '../../../operations/runs/call-tool.ts'
import { approvalText, planText } from '../../text/result-text.ts'
import type { CliHost } from '../host.ts'
import { toJson } from './command.ts'

/** Output that was already printed while a tool ran. */
export interface PrintedOutput {
  stdout: string
  stderr: string
}

interface PrintOptions {
  readonly json: boolean | undefined
  readonly shown?: PrintedOutput
}

/** Prints the result of a call and returns the exit code; output printed during the run is not repeated. */
export function printResult(host: CliHost, answer: CallAnswer, { json, shown = nothingPrinted }: PrintOptions): number {
  if (answer.warning !== undefined && !json) host.err(`${toOneLine(answer.warning)}\n`)
  if (json) host.out(toJson(answer))
  if ('plan' in answer) {
    if (!json) host.out(`${planText(answer.plan)}${approvalText(answer.approvalBy)}\n`)
    return 0
  }
  if ('waitsFor' in answer) {
    if (!json) host.err(waitingText(answer))
    return errorTable.APPROVAL_NEEDED.exit
  }
  if (!json) printEnded(host, answer, shown)
  return exitCodeOf(answer.outcome)
}

/** The exit code for the status of a run. */
export function exitCodeOf({ status, errorCode }: Pick<RunOutcome, 'errorCode'> & { status: string }): number {
  if (status === 'SUCCESS') return 0
  const isListed = errorCode !== null && Object.hasOwn(errorTable, errorCode)
  return isListed ? errorTable[errorCode as ErrorCode].exit : errorTable.EXECUTION_FAILED.exit
}

type Ended = Extract<CallAnswer, { outcome: unknown }>

function printEnded(host: CliHost, { outcome, stored }: Ended, shown: PrintedOutput): void {
  const { result, output, errorMessage, suspicious } = outcome
  const printed = output === undefined || sameJson(parsed(result.stdout), output)
  // Printed output is not part of the result of a tool that returns a value.
  const out = rest(result.stdout, shown.stdout)
  if (printed) host.out(out)
  else host.err(out)
  host.err(rest(result.stderr, shown.stderr))
  if (!printed) host.out(typeof output === 'string' ? `${output}\n` : toJson(output))
  if (stored !== undefined)
    host.err(`\n${stored.bytes} bytes in all; read the rest with: tooldex executions result ${stored.handle}\n`)
  if (errorMessage !== null) host.err(`${errorMessage}\n`)
  if (suspicious !== undefined)
    host.err(`warning: the result may try to instruct its reader: ${suspicious.join('; ')}\n`)
}

/** A large output is truncated here; the printed part is then at least as long. */
const rest = (whole: string, shown: string): string => (whole.startsWith(shown) ? whole.slice(shown.length) : '')

function parsed(text: string): unknown {
  try {
    return parseExactNumbers(text)
  } catch {
    return undefined
  }
}

/** The notice that a call waits for approval, with the command to approve it. */
export const waitingText = ({ executionId, expiresAt }: { executionId: string; expiresAt: string | null }): string =>
  `The call waits for approval${expiresAt === null ? '' : ` until ${expiresAt}`}: tooldex executions approve ${executionId}\n`

const nothingPrinted: PrintedOutput = { stdout: '', stderr: '' }
