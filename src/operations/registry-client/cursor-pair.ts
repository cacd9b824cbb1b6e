import { TooldexError } from '../../base/errors.ts'

/** The position of a search: its start, a cursor of its own, or its end. */
export type PairPosition = 'start' | 'end' | { readonly cursor: string }

/** The positions of two merged searches. */
export type CursorPair = readonly [first: PairPosition, second: PairPosition]

/** Encodes the positions of two searches as an opaque cursor. */
export const writeCursorPair = (pair: CursorPair): string =>
  Buffer.from(
    JSON.stringify(pair.map((position) => (typeof position === 'string' ? position : [position.cursor]))),
  ).toString('base64url')

/** The positions in a cursor; both start without one. */
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
