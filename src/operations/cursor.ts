import { createHash } from 'node:crypto'
import { TooldexError } from '../base/errors.ts'

/** An opaque place in a list, bound to what the list was asked with and to the state it was asked in. */
export function writeCursor(offset: number, about: unknown): string {
  return Buffer.from(JSON.stringify([offset, fingerprint(about)])).toString('base64url')
}

/** The place a cursor names; one from another query, another state, or nobody is refused. */
export function readCursor(cursor: string, about: unknown): number {
  const [offset, mark] = decode(cursor)
  if (!Number.isSafeInteger(offset) || (offset as number) < 0) throw invalid('The cursor cannot be read.')
  if (mark !== fingerprint(about)) throw invalid('The cursor belongs to another query, or the catalogue changed since.')
  return offset as number
}

function decode(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

const fingerprint = (about: unknown) =>
  createHash('sha256').update(JSON.stringify(about)).digest('base64url').slice(0, 16)

const invalid = (message: string) => new TooldexError('CURSOR_INVALID', message)
