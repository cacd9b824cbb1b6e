import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { TooldexError } from '../base/errors.ts'

/** The position of a cursor: the sort value and id of the last item. */
export interface CursorPosition {
  readonly value: string | number
  readonly id: string
}

/** Signed cursors, each valid only for the list that issued it. */
export class Cursors {
  readonly #secret: string

  constructor(secret: string) {
    this.#secret = secret
  }

  /** `list` identifies the list: workspace, kind, sort, filters. */
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
