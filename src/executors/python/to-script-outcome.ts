import { constants } from 'node:os'
import type { RunOutcome } from '../../contract/run.ts'
import type { ProcessEnd } from '../process/run-process.ts'
import { toOutcome } from '../process/to-outcome.ts'
import type { Level } from '../sandbox/level.ts'
import type { SandboxLimits } from '../sandbox/sandbox-limits.ts'
import { isAlwaysVisible } from '../sandbox/visible-program.ts'
import type { ScriptFailure, ScriptResult } from './read-script-result.ts'

/** The result and the settings of a script that ended. */
export interface ScriptEnd {
  readonly answer: ScriptResult | { readonly kind: 'too-large' }
  readonly timeoutMs: number
  readonly level: Level
  readonly limits: SandboxLimits
  readonly outputFactor: number
}

/** The outcome of a script: its return value, or the reason of its failure on one line. */
export function toScriptOutcome(end: ProcessEnd, ended: ScriptEnd): RunOutcome {
  const { answer, limits, level } = ended
  const base = { ...toOutcome(end, { ...ended, subject: 'Script' }, ended.outputFactor, ended.level), output: null }
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
  if (answer.kind === 'failure') return failed(`${withLimit(answer, limits)}${hiddenReason(answer, level)}`)
  if (answer.kind === 'forged')
    return failed('The script wrote to the stream that is reserved for its result, so the result was rejected')
  if (end.signal !== null) return failed(bySignal(end.signal, limits), 'KILLED_BY_SIGNAL')
  return failed(`The script exited with code ${end.exitCode} before main returned`)
}

/** Adds the limit to an error that it probably caused. */
function withLimit({ message, type, errno }: ScriptFailure, { memoryMb, fileMb }: SandboxLimits): string {
  if (type === 'MemoryError') return `${message}; the memory limit is ${memoryMb} MiB`
  if (errno === constants.errno.EFBIG || errno === constants.errno.ENOSPC)
    return `${message}; the limit for files is ${fileMb} MiB`
  return message
}

const { ENOENT, EACCES, EPERM, EROFS } = constants.errno
const hidden = new Set([ENOENT, EACCES, EPERM, EROFS])

/** The reason why a script cannot use a path of the host; no option allows it. */
function hiddenReason({ errno, file }: ScriptFailure, level: Level): string {
  if (level === 'limited' || errno === null || !hidden.has(errno)) return ''
  if (file === null || !file.startsWith('/') || isAlwaysVisible(file)) return ''
  return '. Scripts cannot see the folders of the host. Pass the content as an argument, or use a shell or cli tool with --allow-folder'
}

function bySignal(signal: NodeJS.Signals, { cpuSeconds, memoryMb }: SandboxLimits): string {
  if (signal === 'SIGXCPU') return `Script exceeded its limit of ${cpuSeconds} s of CPU time`
  if (signal === 'SIGKILL')
    return `Script was killed, probably because it exceeded its limit of ${memoryMb} MiB of memory`
  return `Script was killed by ${signal}`
}
