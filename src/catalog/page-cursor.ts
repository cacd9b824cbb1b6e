import { createHash } from 'node:crypto'
import { TooldexError } from '../base/errors.ts'

/** The scope of a cursor: it is valid only if all of it is equal. */
export interface CursorScope {
  readonly catalog: string
  /** The state of the catalog: its version, or a hash of its contents. */
  readonly version: number | string
  /** Query and filters, in canonical form. */
  readonly question: unknown
}

/** Encodes a position in a ranking as an opaque cursor. */
export function writePageCursor(offset: number, { catalog, version, question }: CursorScope): string {
  return Buffer.from(JSON.stringify([offset, catalog, version, hashOf(question)])).toString('base64url')
}

/** The position of the first hit of a page: that of its cursor, or its offset. */
export function readPageStart(
  { cursor, offset }: { readonly cursor?: string | undefined; readonly offset?: number },
  scope: () => CursorScope,
): number {
  if (!cursor) return offset ?? 0
  if (offset === undefined) return readPageCursor(cursor, scope())
  throw new TooldexError('INPUT_INVALID', 'Use either offset or cursor, not both.')
}

/** The position in a cursor; one of another catalog, state or query, or a forged one, is rejected. */
function readPageCursor(cursor: string, scope: CursorScope): number {
  const [offset, catalog, version, question] = decode(cursor)
  if (!Number.isSafeInteger(offset) || (offset as number) < 0) throw refuse('The cursor cannot be read.')
  if (catalog !== scope.catalog) throw refuse('The cursor belongs to another catalog.')
  if (question !== hashOf(scope.question)) throw refuse('The cursor belongs to another query or other filters.')
  if (version !== scope.version) throw refuse('The catalog changed since the cursor was issued.')
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

/** A short hash of a JSON value: models read cursors and pay for every token. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 10)

const refuse = (message: string) => new TooldexError('CURSOR_INVALID', message)
