import type { ErrorCode } from '../../base/errors.ts'
import { exitMessage, type Isolation, type RunOutcome, type RunStatus } from '../../contract/run.ts'
import type { Captured, ProcessEnd, ProcessRequest } from './run-process.ts'

/** The outcome of a finished process; a failed program is a result with a reason, not an exception. */
export function toProcessOutcome(
  end: ProcessEnd,
  request: Ended,
  outputFactor: number,
  isolation: Isolation = 'limited',
): RunOutcome {
  const [status, errorCode, errorMessage] = classify(end, request, outputFactor)
  const truncated = end.stdout.cut || end.stderr.cut
  return {
    status,
    result: {
      stdout: withCut(end.stdout, 'stdout'),
      stderr: withCut(end.stderr, 'stderr'),
      exitCode: end.exitCode,
      signal: end.signal,
      durationMs: end.durationMs,
      truncated,
    },
    isolation,
    errorCode,
    errorMessage,
  }
}

interface Ended extends Pick<ProcessRequest, 'timeoutMs'> {
  /** The subject of messages. */
  readonly subject?: 'Command' | 'Script'
}

type Classification = [RunStatus, ErrorCode | null, string | null]

function classify(end: ProcessEnd, { timeoutMs, subject = 'Command' }: Ended, outputFactor: number): Classification {
  const { exitCode, signal, stopped } = end
  if (stopped === 'timeout') {
    return ['TIMEOUT', 'EXECUTION_TIMEOUT', `${subject} timed out after ${(timeoutMs / 1000).toFixed(1)}s`]
  }
  if (stopped === 'cancelled') return ['CANCELLED', 'EXECUTION_CANCELLED', `${subject} was cancelled`]
  if (stopped === 'output') {
    return [
      'FAILED',
      'OUTPUT_LIMIT',
      `${subject} was stopped after printing more than ${outputFactor} times the output limit`,
    ]
  }
  if (signal !== null) return ['FAILED', 'KILLED_BY_SIGNAL', `${subject} was killed by ${signal}`]
  if (exitCode !== 0) return ['FAILED', 'EXECUTION_FAILED', exitMessage(exitCode)]
  return ['SUCCESS', null, null]
}

function withCut({ text, bytes, cut }: Captured, name: string): string {
  if (!cut) return text
  return `${text}\n[${name} cut: the first ${Buffer.byteLength(text)} of ${bytes} bytes are shown]`
}
