import { parseExactNumbers } from '../../base/exact-numbers.ts'
import { isObject } from '../../base/json-values.ts'
import { cut } from './describe-failure.ts'
import { type MappedResult, mapResult, readObject } from './map-result.ts'
import { cutContent } from './message-check.ts'

/** Work on a long message, or on a long text of one, in a worker thread. */
export type MessageTask =
  | { readonly kind: 'reduce'; readonly bytes: Uint8Array; readonly isEvent: boolean; readonly maxItems: number }
  | { readonly kind: 'read'; readonly text: string }

/** A message without its long parts. */
export interface ReducedMessage {
  readonly message: Readonly<Record<string, unknown>>
  /** The result of a call, which the message lacks; an output that is not a text is JSON. */
  readonly result?: MappedResult & { readonly json?: string }
  /** The items of a list, which the message lacks, as JSON. */
  readonly items?: readonly string[]
}

/** The result of each kind of task. */
export interface MessageAnswers {
  /** `fields`: the lines of an event besides its data. Undefined for input that is not JSON. */
  readonly reduce: { readonly fields: string; readonly messages: readonly ReducedMessage[] } | undefined
  /** The JSON text of an object or array. */
  readonly read: string | undefined
}

// The main thread parses each of them.
const maxListed = 10_000

/** Runs one task on this thread. */
export function doMessageTask(task: MessageTask): MessageAnswers[MessageTask['kind']] {
  if (task.kind === 'read') {
    const value = readObject(task.text)
    return value === undefined ? undefined : JSON.stringify(value)
  }
  const text = Buffer.from(task.bytes.buffer, task.bytes.byteOffset, task.bytes.byteLength).toString('utf8')
  const { fields, data } = task.isEvent ? readEvent(text) : { fields: '', data: text }
  try {
    const value = parseExactNumbers(data)
    const all = Array.isArray(value) ? value : [value]
    return { fields, messages: all.flatMap((message) => reduce(message, task.maxItems)) }
  } catch {
    return undefined
  }
}

/** Splits a server-sent event into its data and its other lines. */
export function readEvent(text: string): { fields: string; data: string } {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line !== '')
  const isData = (line: string) => line.startsWith('data:')
  const data = lines.filter(isData).map((line) => line.slice(line.startsWith('data: ') ? 6 : 5))
  const fields = lines.filter((line) => !isData(line)).map((line) => `${line}\n`)
  return { fields: fields.join(''), data: data.join('\n') }
}

/** Requests and notifications of this size are dropped: none that a client of tools needs is that long. */
function reduce(message: unknown, maxItems: number): readonly ReducedMessage[] {
  if (!isObject(message) || 'method' in message) return []
  const { jsonrpc, id, error, result } = message
  const frame = { jsonrpc, id }
  const refuse = (why: string) => [{ message: { ...frame, error: { code: internalError, message: why } } }]
  if (isObject(error))
    return [{ message: { ...frame, error: { code: error.code, message: cut(String(error.message)) } } }]
  if (!isObject(result)) return refuse('The result is not an object.')
  if (result.content !== undefined || result.structuredContent !== undefined)
    return reduceResult(result, { frame, maxItems }) ?? refuse('The content of the result is not valid.')
  const list = listKeys.find((key) => Array.isArray(result[key]))
  if (list === undefined) return refuse('The result is too long, and neither a list nor that of a tool.')
  const items = textsOf(result[list] as readonly unknown[])
  return [{ message: { ...frame, result: { ...scalarsOf(result), [list]: [] } }, items }]
}

const listKeys = ['tools', 'prompts', 'resources', 'resourceTemplates'] as const
const internalError = -32603

function reduceResult(
  result: Readonly<Record<string, unknown>>,
  { frame, maxItems }: { readonly frame: object; readonly maxItems: number },
): readonly ReducedMessage[] | undefined {
  try {
    const mapped = mapResult(cutContent({ content: [], ...result }, maxItems) as never)
    const isText = typeof mapped.output === 'string'
    const structured = result.structuredContent === undefined ? {} : { structuredContent: {} }
    return [
      {
        message: { ...frame, result: { ...scalarsOf(result), content: [], ...structured } },
        result: isText ? mapped : { ...mapped, output: null, json: JSON.stringify(mapped.output) },
      },
    ]
  } catch {
    // An item without the fields of its type.
    return undefined
  }
}

const textsOf = (items: readonly unknown[]): readonly string[] =>
  items
    .slice(0, maxListed)
    .filter(isObject)
    .map((item) => JSON.stringify(item))

const scalarsOf = (result: object) =>
  Object.fromEntries(
    Object.entries(result).filter(([, value]) => typeof value !== 'object' && String(value).length <= maxScalar),
  )

const maxScalar = 1000
