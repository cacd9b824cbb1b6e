import type { ErrorCode } from '../../base/errors.ts'
import { exitMessage, type Isolation, type RunOutcome, type RunStatus } from '../../contract/run.ts'
import type { Captured } from './capture.ts'
import type { ProcessEnd, ProcessRequest } from './run-process.ts'

/** A finished process as the outcome of a run: a program that failed is a result with its reason. */
export function toOutcome(
  end: ProcessEnd,
  request: Ended,
  outputFactor: number,
  isolation: Isolation = 'limited',
): RunOutcome {
  const [status, errorCode, errorMessage] = judge(end, request, outputFactor)
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
  /** What messages call that which ran. */
  readonly subject?: 'Command' | 'Script'
}

type Judgement = [RunStatus, ErrorCode | null, string | null]

function judge(end: ProcessEnd, { timeoutMs, subject = 'Command' }: Ended, outputFactor: number): Judgement {
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
