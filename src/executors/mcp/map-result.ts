import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import { parseExactNumbers } from '../../base/exact-numbers.ts'
import { cut } from './describe-failure.ts'
import { cutMark } from './message-check.ts'

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
