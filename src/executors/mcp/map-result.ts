import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import { parseExactly } from '../../base/exact-numbers.ts'
import { cut } from './describe-failure.ts'
import { cutMark } from './message-check.ts'

/** How much of a result is kept; what is longer is cut, and says so. */
const most = { text: 4 * 1024 * 1024, base64: 1024 * 1024, depth: 200 }

/** What a call gave, in the shape of a tool's output. */
export interface MappedResult {
  readonly output: unknown
  /** Whether something was left out. */
  readonly truncated: boolean
  /** What a failure says of itself. */
  readonly said: string
  readonly isError: boolean
}

/** The structure that a server gave, or else its text; where the tool promises a structure, text that is JSON is read. */
export function mapResult(result: CallToolResult, promisesStructure: boolean): MappedResult {
  const { structuredContent, content = [], isError = false } = result
  const room = { text: most.text, cut: result._meta?.[cutMark] !== undefined }
  const items = content.map((each) => mapItem(each, room))
  const texts = items.filter((each) => typeof each === 'string')
  const said = cut(texts.join(' ') || 'without saying why')
  if (structuredContent !== undefined && structuredContent !== null) {
    const tooDeep = isDeeper(structuredContent, most.depth)
    return { output: tooDeep ? null : structuredContent, truncated: tooDeep, said, isError }
  }
  const [only] = texts
  const output = texts.length === items.length ? texts.join('\n') : items
  const read = promisesStructure && items.length === 1 && only !== undefined ? readJson(only) : undefined
  return { output: read ?? output, truncated: room.cut, said, isError }
}

function mapItem(item: ContentBlock, room: { text: number; cut: boolean }): unknown {
  if (item.type === 'text') return take(item.text, room)
  if (item.type === 'image' || item.type === 'audio')
    return { type: item.type, mimeType: item.mimeType, ...data(item.data, room) }
  if (item.type === 'resource_link') {
    const { type, uri, name, mimeType } = item
    return { type, uri, name, ...(mimeType === undefined ? {} : { mimeType }) }
  }
  const { uri, mimeType } = item.resource
  const about = { type: item.type, uri, ...(mimeType === undefined ? {} : { mimeType }) }
  return 'text' in item.resource
    ? { ...about, text: take(item.resource.text, room) }
    : { ...about, ...data(item.resource.blob, room) }
}

function take(text: string, room: { text: number; cut: boolean }): string {
  const kept = text.length > room.text ? text.slice(0, room.text) : text
  if (kept.length < text.length) room.cut = true
  room.text -= kept.length
  return kept.length < text.length ? `${kept}… (${text.length} characters)` : kept
}

function data(base64: string, room: { cut: boolean }): { data: string } | { omitted: string } {
  if (base64.length <= most.base64) return { data: base64 }
  room.cut = true
  return { omitted: `${base64.length} characters of base64` }
}

function readJson(text: string): unknown {
  try {
    const value = parseExactly(text)
    return typeof value === 'object' && value !== null && !isDeeper(value, most.depth) ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether a value nests deeper than whatever reads it later could follow. */
function isDeeper(value: unknown, levels: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}
