import * as z from 'zod'
import { readJsonPart } from '../../json-schema/offload/json-work.ts'

const Failure = z.object({
  type: z.string(),
  message: z.string(),
  line: z.int().nullish(),
  where: z.string().nullish(),
  text: z.string().nullish(),
  errno: z.int().nullish().catch(null),
})
type Failure = z.infer<typeof Failure>

/** An exception that ended a script. */
export interface ScriptFailure {
  readonly kind: 'failure'
  readonly message: string
  /** The name of its class. */
  readonly type: string
  /** The number of the system error that it stands for, where it is one. */
  readonly errno: number | null
}

/** What a script told: what it returned, why it failed, nothing, or something that is not from the program around it. */
export type ScriptResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | ScriptFailure
  | { readonly kind: 'nothing' | 'forged' }

/** Reads what came on the stream of the result; only one answer after the word that was agreed on counts. */
export async function readScriptResult(text: string, nonce: string): Promise<ScriptResult> {
  if (text === '') return { kind: 'nothing' }
  if (!text.startsWith(`${nonce}\n`)) return { kind: 'forged' }
  const json = text.slice(nonce.length + 1)
  const answer = await readJsonPart(json, '/value', { exact: false })
  if ('value' in answer) return { kind: 'value', value: answer.value }
  const error = await readJsonPart(json, '/error', { exact: false })
  const failure = Failure.safeParse('value' in error ? error.value : undefined)
  if (!failure.success) return { kind: 'forged' }
  const { type, errno = null } = failure.data
  return { kind: 'failure', message: describe(failure.data), type, errno }
}

/** One short line: what was raised, and where in the script. */
function describe({ type, message, line, where, text }: Failure): string {
  if (type === 'result') return `main returned something that is not JSON: ${message}`
  const what = message === '' ? type : `${type}: ${message}`
  if (line == null) return what
  const inside = where == null || where === '<module>' ? '' : ` in ${where}`
  return `${what} (line ${line}${inside}${text ? `: ${text}` : ''})`
}
