import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { TooldexError } from '../base/errors.ts'
import type { Page, PageQuery } from '../contract/stores.ts'

/** The position of a cursor: the sort value and id of the last item. */
export interface CursorPosition {
  readonly value: string | number | Date
  readonly id: string
}

/** A list and how its rows are read. */
interface List<Row, Item> extends PageQuery {
  /** Identifies the list: kind, workspace, sort, filters. */
  readonly list: readonly unknown[]
  readonly read: (position: CursorPosition | undefined, maxRows: number) => PromiseLike<readonly Row[]>
  readonly toItem: (row: Row) => Item
  readonly toPosition: (row: Row) => CursorPosition
}

/** Reads a page; one row more than the limit shows whether another page follows. */
export async function readRowPage<Row, Item>(
  cursors: Cursors,
  { list, limit, cursor, read, toItem, toPosition }: List<Row, Item>,
): Promise<Page<Item>> {
  const rows = await read(cursors.read(list, cursor), limit + 1)
  const items = rows.slice(0, limit).map(toItem)
  const last = rows[limit - 1]
  if (rows.length <= limit || last === undefined) return { items }
  return { items, nextCursor: cursors.write(list, toPosition(last)) }
}

/** The condition that a row comes after a position in the order of a column; ties are broken by id, so that no page repeats or loses a row. */
export function isBeyondPosition(
  position: CursorPosition | undefined,
  { column, id, order = 'desc' }: { column: PgColumn; id: PgColumn; order?: 'asc' | 'desc' },
): SQL | undefined {
  if (position === undefined) return undefined
  const value = column.dataType === 'date' ? new Date(position.value) : position.value
  const after = order === 'asc' ? sql`>` : sql`<`
  return sql`(${column}, ${id}) ${after} (${sql.param(value, column)}, ${position.id}::uuid)`
}

/** Signed cursors, each valid only for the list that issued it. */
export class Cursors {
  readonly #secret: string

  constructor(secret: string) {
    this.#secret = secret
  }

  write(list: unknown, { value, id }: CursorPosition): string {
    const payload = Buffer.from(JSON.stringify([value, id])).toString('base64url')
    return `${payload}.${this.#sign(list, payload)}`
  }

  read(list: unknown, cursor: string | undefined): CursorPosition | undefined {
    if (cursor === undefined) return undefined
    const [payload = '', signature = ''] = cursor.split('.')
    const [actual, expected] = [Buffer.from(signature), Buffer.from(this.#sign(list, payload))]
    if (actual.length !== expected.length || !timingSafeEqual(actual, expected))
      throw new TooldexError('CURSOR_INVALID', 'The cursor does not belong to this list.')
    const [value, id] = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as [string | number, string]
    return { value, id }
  }

  #sign(list: unknown, payload: string): string {
    const listHash = createHash('sha256').update(JSON.stringify(list)).digest()
    return createHmac('sha256', this.#secret).update(listHash).update(payload).digest('base64url').slice(0, 22)
  }
}
