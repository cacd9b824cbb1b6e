import { constants } from 'node:os'
import type { RunOutcome } from '../../contract/run.ts'
import type { ProcessEnd } from '../process/run-process.ts'
import { toOutcome } from '../process/to-outcome.ts'
import type { Level } from '../sandbox/level.ts'
import type { SandboxLimits } from '../sandbox/sandbox-limits.ts'
import type { ScriptFailure, ScriptResult } from './read-script-result.ts'

/** What is known of a script that ended. */
export interface ScriptEnd {
  readonly answer: ScriptResult | { readonly kind: 'too-large' }
  readonly timeoutMs: number
  readonly level: Level
  readonly limits: SandboxLimits
  readonly outputFactor: number
}

/** The outcome of a script: what it returned, or in one line why it did not. */
export function toScriptOutcome(end: ProcessEnd, known: ScriptEnd): RunOutcome {
  const { answer, limits } = known
  const base = { ...toOutcome(end, { ...known, subject: 'Script' }, known.outputFactor, known.level), output: null }
  const failed = (errorMessage: string, errorCode = 'EXECUTION_FAILED'): RunOutcome => ({
    ...base,
    status: 'FAILED',
    errorCode,
    errorMessage,
  })
  if (answer.kind === 'too-large') return failed('main returned more than 16 MiB', 'OUTPUT_LIMIT')
  if (end.stopped !== null) return base
  if (answer.kind === 'value')
    return { ...base, status: 'SUCCESS', errorCode: null, errorMessage: null, output: answer.value }
  if (answer.kind === 'failure') return failed(withLimit(answer, limits))
  if (answer.kind === 'forged') return failed('The script wrote to the stream of its result; nothing of it was taken')
  if (end.signal !== null) return failed(bySignal(end.signal, limits), 'KILLED_BY_SIGNAL')
  return failed(`The script ended itself with exit code ${end.exitCode} before main returned`)
}

/** What a limit does to a script is not always plain from what Python says of it. */
function withLimit({ message, type, errno }: ScriptFailure, { memoryMb, fileMb }: SandboxLimits): string {
  if (type === 'MemoryError') return `${message}; it may use ${memoryMb} MiB of memory`
  if (errno === constants.errno.EFBIG || errno === constants.errno.ENOSPC)
    return `${message}; it may write ${fileMb} MiB`
  return message
}

function bySignal(signal: NodeJS.Signals, { cpuSeconds, memoryMb }: SandboxLimits): string {
  if (signal === 'SIGXCPU') return `Script used more than its ${cpuSeconds} s of CPU time`
  if (signal === 'SIGKILL') return `Script was killed, as one is that uses more than its ${memoryMb} MiB of memory`
  return `Script was killed by ${signal}`
}
