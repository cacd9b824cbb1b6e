import { type ErrorCode, errorTable } from '../../../base/errors.ts'
import { parseExactly } from '../../../base/exact-numbers.ts'
import { sameJson } from '../../../base/same-json.ts'
import { toOneLine } from '../../../base/visible-text.ts'
import type { RunOutcome } from '../../../contract/run.ts'
import type { CallAnswer } from '../../../operations/runs/call-tool.ts'
import { approvalText, planText } from '../../text/result-text.ts'
import type { CliHost } from '../host.ts'
import { toJson } from './command.ts'

/** What was printed already while a tool ran. */
export interface Shown {
  stdout: string
  stderr: string
}

interface PrintOptions {
  readonly json: boolean | undefined
  readonly shown?: Shown
}

/** Prints how a call was answered and gives the exit code; what was seen while it ran is not printed again. */
export function printResult(host: CliHost, answer: CallAnswer, { json, shown = none }: PrintOptions): number {
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

/** The exit code that a run stands for. */
export function exitCodeOf({ status, errorCode }: Pick<RunOutcome, 'errorCode'> & { status: string }): number {
  if (status === 'SUCCESS') return 0
  const known = errorCode !== null && Object.hasOwn(errorTable, errorCode)
  return known ? errorTable[errorCode as ErrorCode].exit : errorTable.EXECUTION_FAILED.exit
}

type Ended = Extract<CallAnswer, { outcome: unknown }>

function printEnded(host: CliHost, { outcome, stored }: Ended, shown: Shown): void {
  const { result, output, errorMessage } = outcome
  const printed = output === undefined || sameJson(parsed(result.stdout), output)
  // What a tool prints beside what it returns is no part of its result.
  const out = rest(result.stdout, shown.stdout)
  if (printed) host.out(out)
  else host.err(out)
  host.err(rest(result.stderr, shown.stderr))
  if (!printed) host.out(typeof output === 'string' ? `${output}\n` : toJson(output))
  if (stored !== undefined)
    host.err(`\n${stored.bytes} bytes in all; read the rest with: tooldex executions result ${stored.handle}\n`)
  if (errorMessage !== null) host.err(`${errorMessage}\n`)
}

/** Of a large output only its beginning is here; then what was seen is at least as much. */
const rest = (whole: string, shown: string): string => (whole.startsWith(shown) ? whole.slice(shown.length) : '')

function parsed(text: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    return undefined
  }
}

/** That a call waits for a person, and what the person types. */
export const waitingText = ({ executionId, expiresAt }: { executionId: string; expiresAt: string | null }): string =>
  `The call waits for a person's yes until ${expiresAt ?? 'it is given'}: tooldex executions approve ${executionId}\n`

const none: Shown = { stdout: '', stderr: '' }
