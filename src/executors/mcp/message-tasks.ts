import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import { parseExactNumbers } from '../../base/exact-numbers.ts'
import { isObject } from '../../base/json-values.ts'
import { cut } from './describe-failure.ts'
import { cutContent, cutMark } from './message-check.ts'

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

/** The limits of a result; anything beyond them is cut and marked as cut. */
const limits = { text: 4 * 1024 * 1024, base64: 1024 * 1024, depth: 200 }

/** The result of a call in the shape of a tool's output. */
export interface MappedResult {
  readonly output: unknown
  /** Whether the output is a single text, which may be JSON. */
  readonly isText: boolean
  /** Whether a part was omitted. */
  readonly truncated: boolean
  /** The text of the result on one line, for error messages. */
  readonly message: string
  readonly isError: boolean
}

/** The structured content of a result, or else its text. */
export function mapResult(result: CallToolResult): MappedResult {
  const { structuredContent, content = [], isError = false } = result
  const budget = { text: limits.text, cut: result._meta?.[cutMark] !== undefined }
  const items = content.map((each) => mapItem(each, budget))
  const texts = items.filter((each) => typeof each === 'string')
  const message = cut(texts.join(' ') || 'no reason given')
  if (structuredContent !== undefined && structuredContent !== null) {
    const tooDeep = isDeeper(structuredContent, limits.depth)
    return { output: tooDeep ? null : structuredContent, isText: false, truncated: tooDeep, message, isError }
  }
  const output = texts.length === items.length ? texts.join('\n') : items
  const isText = texts.length === 1 && items.length === 1
  return { output, isText, truncated: budget.cut, message, isError }
}

function mapItem(item: ContentBlock, budget: { text: number; cut: boolean }): unknown {
  if (item.type === 'text') return take(item.text, budget)
  if (item.type === 'image' || item.type === 'audio')
    return { type: item.type, mimeType: item.mimeType, ...data(item.data, budget) }
  if (item.type === 'resource_link') {
    const { type, uri, name, mimeType } = item
    return { type, uri, name, ...(mimeType === undefined ? {} : { mimeType }) }
  }
  const { uri, mimeType } = item.resource
  const about = { type: item.type, uri, ...(mimeType === undefined ? {} : { mimeType }) }
  return 'text' in item.resource
    ? { ...about, text: take(item.resource.text, budget) }
    : { ...about, ...data(item.resource.blob, budget) }
}

function take(text: string, budget: { text: number; cut: boolean }): string {
  const head = text.length > budget.text ? text.slice(0, budget.text) : text
  if (head.length < text.length) budget.cut = true
  budget.text -= head.length
  return head.length < text.length ? `${head}… (${text.length} characters)` : head
}

function data(base64: string, budget: { cut: boolean }): { data: string } | { omitted: string } {
  if (base64.length <= limits.base64) return { data: base64 }
  budget.cut = true
  return { omitted: `${base64.length} characters of base64` }
}

/** The object or array that a text contains; undefined if it contains another value or is not JSON. */
export function readObject(text: string): object | undefined {
  try {
    const value = parseExactNumbers(text)
    return typeof value === 'object' && value !== null && !isDeeper(value, limits.depth) ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether a value nests deeper than later readers support. */
function isDeeper(value: unknown, levels: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}
