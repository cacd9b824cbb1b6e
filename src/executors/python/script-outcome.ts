import { constants } from 'node:os'
import * as z from 'zod'
import type { RunOutcome } from '../../contract/run.ts'
import { readJsonPart } from '../../json-schema/offload/json-work.ts'
import { toProcessOutcome } from '../process/process-outcome.ts'
import type { ProcessEnd } from '../process/run-process.ts'
import type { Level } from '../sandbox/sandbox-config.ts'
import type { SandboxLimits } from '../sandbox/sandbox-limits.ts'
import { isAlwaysVisible } from '../sandbox/visible-program.ts'

/** The result and the settings of a script that ended. */
interface ScriptEnd {
  readonly answer: ScriptResult | { readonly kind: 'too-large' }
  readonly timeoutMs: number
  readonly level: Level
  readonly limits: SandboxLimits
  readonly outputFactor: number
}

/** The outcome of a script: its return value, or the reason of its failure on one line. */
export function toScriptOutcome(end: ProcessEnd, ended: ScriptEnd): RunOutcome {
  const { answer, limits, level } = ended
  const base = {
    ...toProcessOutcome(end, { ...ended, subject: 'Script' }, ended.outputFactor, ended.level),
    output: null,
  }
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

const Failure = z.object({
  type: z.string(),
  message: z.string(),
  line: z.int().nullish(),
  where: z.string().nullish(),
  text: z.string().nullish(),
  errno: z.int().nullish().catch(null),
  file: z.string().nullish().catch(null),
})
type Failure = z.infer<typeof Failure>

/** An exception that ended a script. */
interface ScriptFailure {
  readonly kind: 'failure'
  readonly message: string
  /** The name of its class. */
  readonly type: string
  /** The errno of an OSError, else null. */
  readonly errno: number | null
  /** The path of an OSError, else null. */
  readonly file: string | null
}

/** The result of a script: its return value, its exception, nothing, or data that the runner did not write. */
type ScriptResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | ScriptFailure
  | { readonly kind: 'nothing' | 'forged' }

/** Parses the result stream; only a single result after the nonce is accepted. */
export async function readScriptResult(text: string, nonce: string): Promise<ScriptResult> {
  if (text === '') return { kind: 'nothing' }
  if (!text.startsWith(`${nonce}\n`)) return { kind: 'forged' }
  const json = text.slice(nonce.length + 1)
  const result = await readJsonPart(json, '/value', { exact: false })
  if ('value' in result) return { kind: 'value', value: result.value }
  const error = await readJsonPart(json, '/error', { exact: false })
  const failure = Failure.safeParse('value' in error ? error.value : undefined)
  if (!failure.success) return { kind: 'forged' }
  const { type, errno = null, file = null } = failure.data
  return { kind: 'failure', message: describe(failure.data), type, errno, file }
}

/** The exception and its location in the script, on one line. */
function describe({ type, message, line, where, text }: Failure): string {
  if (type === 'result') return `main returned a value that is not JSON: ${message}`
  const what = message === '' ? type : `${type}: ${message}`
  if (line == null) return what
  const inside = where == null || where === '<module>' ? '' : ` in ${where}`
  return `${what} (line ${line}${inside}${text ? `: ${text}` : ''})`
}
