import { TooldexError } from '../base/errors.ts'
import { lazyModule } from '../base/lazy-module.ts'
import { compileSearchPattern, type Pattern } from '../base/pattern.ts'
import type { ResultContent } from '../contract/execution.ts'
import { previewValue } from './preview.ts'

const loadJsonPath = lazyModule(() => import('../json-schema/offload/json-tasks.ts'))

/** The requested part of a stored output. */
export interface ResultQuery {
  /** The first line, counted from 0, and the number of lines. */
  readonly offset: number
  readonly limit: number
  /** Only lines that match this regular expression (RE2). */
  readonly grep?: string | undefined
  /** Only values that match this JSONPath. */
  readonly path?: string | undefined
}

/** A part of a stored output. */
export interface ResultSlice {
  readonly mediaType: string
  /** Lines of text, or matching values. */
  readonly items: readonly unknown[]
  readonly total: number
  readonly nextOffset?: number
  /** Whether a value was too large to return whole. */
  readonly cut?: boolean
}

const maxBytes = 64 * 1024
// A longer line is split into several; a match may begin in one part and end in the next.
const maxLineLength = 4000
const overlap = 500

/** Reads a part of a stored output: lines, matching lines, or values that match a path. */
export async function readResult({ mediaType, content }: ResultContent, query: ResultQuery): Promise<ResultSlice> {
  if (query.path !== undefined && query.grep !== undefined)
    throw new TooldexError('INPUT_INVALID', 'Use either path or grep, not both.')
  const all = query.path === undefined ? linesOf(content, mediaType, query.grep) : await valuesAt(content, query.path)
  const { offset, limit } = query
  const { items, cut } = takeUpTo(all.slice(offset, offset + limit))
  const next = offset + items.length
  return {
    mediaType,
    items,
    total: all.length,
    ...(next < all.length ? { nextOffset: next } : {}),
    ...(cut ? { cut } : {}),
  }
}

/** As many items as fit into the size limit; a preview of the first one where it alone exceeds the limit. */
function takeUpTo(all: readonly unknown[]): { items: readonly unknown[]; cut: boolean } {
  const items: unknown[] = []
  let room = maxBytes
  for (const item of all) {
    room -= Buffer.byteLength(JSON.stringify(item) ?? '')
    if (room < 0) return items.length > 0 ? { items, cut: false } : { items: [previewValue(item, maxBytes)], cut: true }
    items.push(item)
  }
  return { items, cut: false }
}

/** The lines of an output; JSON is formatted first, one value per line. */
function linesOf(content: string, mediaType: string, grep: string | undefined): readonly string[] {
  const text = mediaType === 'application/json' ? JSON.stringify(JSON.parse(content), null, 1) : content
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const pieces = lines.flatMap((line) => (line.length > maxLineLength ? piecesOf(line) : [{ text: line, next: '' }]))
  if (grep === undefined) return pieces.map(({ text }) => text)
  const pattern = readPattern(grep)
  const isAcross = (text: string, next: string) => next !== '' && pattern.test(text + next) && !pattern.test(next)
  return pieces.flatMap(({ text, next }, index) => {
    if (pattern.test(text)) return [`${index}: ${text}`]
    return isAcross(text, next) ? [`${index}: ${text}${next}`] : []
  })
}

/** Parts of a long line, without split characters, each with the beginning of the next. */
function piecesOf(line: string): { readonly text: string; readonly next: string }[] {
  const pieces = []
  for (let start = 0; start < line.length; ) {
    const end = wholeUpTo(line, start + maxLineLength)
    pieces.push({ text: line.slice(start, end), next: line.slice(end, wholeUpTo(line, end + overlap)) })
    start = end
  }
  return pieces
}

/** One less where `end` would split a character. */
const wholeUpTo = (line: string, end: number): number => ((line.charCodeAt(end) & 0xfc00) === 0xdc00 ? end - 1 : end)

function readPattern(text: string): Pattern {
  try {
    return compileSearchPattern(text)
  } catch (error) {
    throw new TooldexError('INPUT_INVALID', `grep is not a valid regular expression: ${(error as Error).message}`, {
      hint: 'Use RE2 syntax, which has no look-around and no back-references.',
    })
  }
}

async function valuesAt(content: string, path: string): Promise<readonly unknown[]> {
  const { findByJsonPath } = await loadJsonPath()
  try {
    return findByJsonPath(JSON.parse(content), path)
  } catch (error) {
    if (error instanceof TooldexError) throw error
    throw new TooldexError('INPUT_INVALID', 'The output is not JSON, so it cannot be read by path.', {
      hint: 'Use grep, or offset and limit.',
    })
  }
}
