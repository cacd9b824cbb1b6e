import { TooldexError } from '../../base/errors.ts'
import type { Execution } from '../../contract/execution.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { runCodeName } from '../../rules/builtin-names.ts'
import { isFinal } from '../../rules/is-final.ts'

/** A recorded run as a run outcome; for a command, the printed text is the output. */
export function outcomeOfExecution(execution: Execution): RunOutcome {
  const { toolName, status, outputData, logs, exitCode, durationMs, truncated, isolation, errorCode, errorMessage } =
    execution
  const printed = typeof outputData === 'string' && logs.stdout === '' && toolName !== runCodeName
  const result = {
    stdout: printed ? outputData : logs.stdout,
    stderr: logs.stderr,
    exitCode,
    signal: null,
    durationMs: durationMs ?? 0,
    truncated,
  }
  return {
    status: status as RunOutcome['status'],
    result,
    ...(printed || outputData === null ? {} : { output: outputData }),
    isolation: isolation ?? 'none',
    ...(execution.environment === null ? {} : { environment: execution.environment }),
    errorCode,
    errorMessage,
    ...(execution.suspicious === undefined ? {} : { suspicious: execution.suspicious }),
  }
}

/** The response to a recorded call: its outcome, or what it waits for; throws if no worker started it. */
export function answerOfExecution(execution: Execution) {
  const { id: executionId, status, reason, expiresAt, result, errorCode, errorMessage } = execution
  if (errorCode === 'STILL_QUEUED')
    throw new TooldexError('STILL_QUEUED', `${errorMessage} Its execution id is ${executionId}.`)
  if (!isFinal(status))
    return { executionId, waitsFor: reason === 'approval' ? reason : ('result' as const), expiresAt }
  return { outcome: outcomeOfExecution(execution), executionId, ...(result === null ? {} : { stored: result }) }
}
