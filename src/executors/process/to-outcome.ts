import { type ErrorCode, TooldexError } from '../../base/errors.ts'
import { exitMessage, type Isolation, type RunOutcome, type RunStatus } from '../../contract/run.ts'
import type { Captured } from './capture.ts'
import type { ProcessEnd, ProcessRequest } from './run-process.ts'

/** A finished process as the outcome of a run: a program that failed is a result with its reason. */
export function toOutcome(
  end: ProcessEnd,
  request: Pick<ProcessRequest, 'timeoutMs'>,
  outputFactor: number,
  isolation: Isolation = 'limited',
): RunOutcome {
  const [status, errorCode, errorMessage] = judge(end, request.timeoutMs, outputFactor)
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

type Judgement = [RunStatus, ErrorCode | null, string | null]

function judge(end: ProcessEnd, timeoutMs: number, outputFactor: number): Judgement {
  const { exitCode, signal, stopped } = end
  if (stopped === 'timeout') {
    return ['TIMEOUT', 'EXECUTION_TIMEOUT', `Command timed out after ${(timeoutMs / 1000).toFixed(1)}s`]
  }
  if (stopped === 'cancelled') return ['CANCELLED', 'EXECUTION_CANCELLED', 'Command was cancelled']
  if (stopped === 'output') {
    return [
      'FAILED',
      'OUTPUT_LIMIT',
      `Command was stopped after printing more than ${outputFactor} times the output limit`,
    ]
  }
  if (signal !== null) return ['FAILED', 'KILLED_BY_SIGNAL', `Command was killed by ${signal}`]
  if (exitCode !== 0) return ['FAILED', 'EXECUTION_FAILED', exitMessage(exitCode)]
  return ['SUCCESS', null, null]
}

function withCut({ text, bytes, cut }: Captured, name: string): string {
  if (!cut) return text
  return `${text}\n[${name} cut: the first ${Buffer.byteLength(text)} of ${bytes} bytes are shown]`
}

/** What the system said when a program could not be started, as a code of ours. */
export function toStartError(error: unknown, program: string): TooldexError {
  if (error instanceof TooldexError) return error
  const { code = 'unknown error' } = error as NodeJS.ErrnoException
  const [ours, message] = startErrors[code] ?? ['COMMAND_NOT_EXECUTABLE', `PROGRAM could not be started (${code}).`]
  return new TooldexError(ours, message.replace('PROGRAM', program), { cause: error })
}

const startErrors: Record<string, [ErrorCode, string]> = {
  ENOENT: ['COMMAND_NOT_FOUND', 'Command not found: PROGRAM'],
  EACCES: ['COMMAND_NOT_EXECUTABLE', 'PROGRAM may not be executed.'],
  EPERM: ['COMMAND_NOT_EXECUTABLE', 'PROGRAM may not be executed.'],
  ENOEXEC: ['COMMAND_NOT_EXECUTABLE', 'PROGRAM is not a program this machine can run.'],
  ENOTDIR: ['WORKING_DIR_INVALID', 'The working folder of PROGRAM is not a folder.'],
  E2BIG: ['ARGUMENTS_TOO_LONG', 'The arguments of PROGRAM are longer than the system allows.'],
  EMFILE: ['RESOURCES_EXHAUSTED', 'PROGRAM could not be started: too many files are open.'],
  ENFILE: ['RESOURCES_EXHAUSTED', 'PROGRAM could not be started: too many files are open.'],
  ENOMEM: ['RESOURCES_EXHAUSTED', 'PROGRAM could not be started: out of memory.'],
  EAGAIN: ['RESOURCES_EXHAUSTED', 'PROGRAM could not be started: too many processes.'],
}
