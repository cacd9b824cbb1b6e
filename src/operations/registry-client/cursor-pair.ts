import { TooldexError } from '../../base/errors.ts'

/** Where a search goes on: from the beginning, after a cursor of its own, or nowhere. */
export type PairPosition = 'start' | 'end' | { readonly cursor: string }

/** The places of two searches that are answered as one. */
export type CursorPair = readonly [first: PairPosition, second: PairPosition]

/** An opaque place in two searches. */
export const writeCursorPair = (pair: CursorPair): string =>
  Buffer.from(JSON.stringify(pair.map((place) => (typeof place === 'string' ? place : [place.cursor])))).toString(
    'base64url',
  )

/** The places that a cursor names; both begin where there is none. */
export function readCursorPair(cursor: unknown): CursorPair {
  if (cursor == null || cursor === '') return ['start', 'start']
  const [first, second] = decode(String(cursor)).map(readPlace)
  if (first === undefined || second === undefined)
    throw new TooldexError('CURSOR_INVALID', 'The cursor cannot be read.')
  return [first, second]
}

function readPlace(written: unknown): PairPosition | undefined {
  if (written === 'start' || written === 'end') return written
  return Array.isArray(written) && typeof written[0] === 'string' ? { cursor: written[0] } : undefined
}

function decode(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
