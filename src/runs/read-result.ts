import { TooldexError } from '../base/errors.ts'
import { compileSearchPattern, type SearchPattern } from '../base/pattern.ts'
import type { ResultContent } from '../contract/execution.ts'

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
export interface ResultPage {
  readonly mediaType: string
  /** Lines of text, or values that were found. */
  readonly items: readonly unknown[]
  readonly total: number
  readonly nextOffset?: number
}

const mostBytes = 64 * 1024
const longestLine = 4000

/** Reads a part of a kept output: lines, lines that match, or values that a path finds. */
export async function readResult({ mediaType, content }: ResultContent, query: ResultQuery): Promise<ResultPage> {
  if (query.path !== undefined && query.grep !== undefined)
    throw new TooldexError('INPUT_INVALID', 'Ask for a path or for lines that match, not for both.')
  const all = query.path === undefined ? linesOf(content, mediaType, query.grep) : await valuesAt(content, query.path)
  const { offset, limit } = query
  const items: unknown[] = []
  let bytes = 0
  for (const item of all.slice(offset, offset + limit)) {
    const short = typeof item === 'string' && item.length > longestLine ? `${item.slice(0, longestLine)}…` : item
    bytes += Buffer.byteLength(JSON.stringify(short) ?? '')
    if (bytes > mostBytes && items.length > 0) break
    items.push(short)
  }
  const next = offset + items.length
  return { mediaType, items, total: all.length, ...(next < all.length ? { nextOffset: next } : {}) }
}

/** The lines of an output; JSON is laid out first, one value a line. */
function linesOf(content: string, mediaType: string, grep: string | undefined): readonly string[] {
  const text = mediaType === 'application/json' ? JSON.stringify(JSON.parse(content), null, 1) : content
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  if (grep === undefined) return lines
  const pattern = readPattern(grep)
  return lines.flatMap((line, index) => (pattern.test(line) ? [`${index}: ${line}`] : []))
}

function readPattern(text: string): SearchPattern {
  try {
    return compileSearchPattern(text)
  } catch (error) {
    throw new TooldexError('INPUT_INVALID', `grep is not a regular expression: ${(error as Error).message}`, {
      hint: 'RE2 syntax: no look-around, no back-references.',
    })
  }
}

async function valuesAt(content: string, path: string): Promise<readonly unknown[]> {
  const { findByPath } = await import('../base/json-path.ts')
  try {
    return findByPath(JSON.parse(content), path)
  } catch (error) {
    if (error instanceof TooldexError) throw error
    throw new TooldexError('INPUT_INVALID', 'The output is no JSON, so a path finds nothing in it.', {
      hint: 'Use grep, or read it line by line.',
    })
  }
}
