import * as z from 'zod'
import { readJsonPart } from '../../json-schema/offload/json-work.ts'

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
export interface ScriptFailure {
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
export type ScriptResult =
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
