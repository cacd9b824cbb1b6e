import { TooldexError } from '../base/errors.ts'
import { compileSearchPattern, type Pattern } from '../base/pattern.ts'
import type { ResultContent } from '../contract/execution.ts'
import { previewValue } from './preview.ts'

/** What part of a kept output is wanted. */
export interface ResultQuery {
  /** The first line, from 0, and how many. */
  readonly offset: number
  readonly limit: number
  /** Only lines that this regular expression (RE2) finds something in. */
  readonly grep?: string | undefined
  /** Only what this JSONPath finds. */
  readonly path?: string | undefined
}

/** A part of a kept output. */
export interface ResultSlice {
  readonly mediaType: string
  /** Lines of text, or values that were found. */
  readonly items: readonly unknown[]
  readonly total: number
  readonly nextOffset?: number
  /** Whether a value was too large to be shown whole. */
  readonly cut?: boolean
}

const maxBytes = 64 * 1024
// A longer line is several, one after the other; what is looked for may begin in one and end in the next.
const maxLineLength = 4000
const overlap = 500

/** Reads a part of a kept output: lines, lines that match, or values that a path finds. */
export async function readResult({ mediaType, content }: ResultContent, query: ResultQuery): Promise<ResultSlice> {
  if (query.path !== undefined && query.grep !== undefined)
    throw new TooldexError('INPUT_INVALID', 'Ask for a path or for lines that match, not for both.')
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

/** As many as there is room for; of a first one that is too large by itself, its shape. */
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

/** The lines of an output; JSON is laid out first, one value a line. */
function linesOf(content: string, mediaType: string, grep: string | undefined): readonly string[] {
  const text = mediaType === 'application/json' ? JSON.stringify(JSON.parse(content), null, 1) : content
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const pieces = lines.flatMap((line) => (line.length > maxLineLength ? piecesOf(line) : [{ text: line, and: '' }]))
  if (grep === undefined) return pieces.map(({ text }) => text)
  const pattern = readPattern(grep)
  const isAcross = (text: string, and: string) => and !== '' && pattern.test(text + and) && !pattern.test(and)
  return pieces.flatMap(({ text, and }, index) => {
    if (pattern.test(text)) return [`${index}: ${text}`]
    return isAcross(text, and) ? [`${index}: ${text}${and}`] : []
  })
}

/** Parts of a long line, whole characters only, each with how the next begins. */
function piecesOf(line: string): { readonly text: string; readonly and: string }[] {
  const pieces = []
  for (let start = 0; start < line.length; ) {
    const end = wholeUpTo(line, start + maxLineLength)
    pieces.push({ text: line.slice(start, end), and: line.slice(end, wholeUpTo(line, end + overlap)) })
    start = end
  }
  return pieces
}

/** One less where that would cut a character in two. */
const wholeUpTo = (line: string, end: number): number => ((line.charCodeAt(end) & 0xfc00) === 0xdc00 ? end - 1 : end)

function readPattern(text: string): Pattern {
  try {
    return compileSearchPattern(text)
  } catch (error) {
    throw new TooldexError('INPUT_INVALID', `grep is not a regular expression: ${(error as Error).message}`, {
      hint: 'RE2 syntax: no look-around, no back-references.',
    })
  }
}

async function valuesAt(content: string, path: string): Promise<readonly unknown[]> {
  const { findByPath } = await import('../json-schema/offload/json-path.ts')
  try {
    return findByPath(JSON.parse(content), path)
  } catch (error) {
    if (error instanceof TooldexError) throw error
    throw new TooldexError('INPUT_INVALID', 'The output is no JSON, so a path finds nothing in it.', {
      hint: 'Use grep, or read it line by line.',
    })
  }
}
