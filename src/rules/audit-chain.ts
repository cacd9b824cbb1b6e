import { createHash } from 'node:crypto'
import type { ChainHead, ChainRow, HashedRow } from '../contract/audit.ts'

/** The previous hash of the first row. */
export const chainStart = '0'.repeat(64)

/** The hash of a row: SHA-256 of its JSON text, which contains the hash of the previous row. */
export const hashRow = (row: ChainRow): string => hashText(toText(row))

/** A row as a line of an export: the hashed text with the hash as its last member. */
export const toChainLine = (row: HashedRow): string => `${toText(row).slice(0, -1)},"hash":${JSON.stringify(row.hash)}}`

/** A line of an export as a row with the hash of its text; undefined if it is not such a line. */
export function readChainLine(line: string): { readonly row: HashedRow; readonly computed: string } | undefined {
  const [, members, hash] = /^(\{.*),"hash":(null|"[0-9a-f]{64}")\}$/s.exec(line) ?? []
  if (members === undefined || hash === undefined) return undefined
  const text = `${members}}`
  try {
    const row = JSON.parse(text) as ChainRow
    return { row: { ...row, hash: JSON.parse(hash) as string | null }, computed: hashText(text) }
  } catch {
    return undefined
  }
}

const hashText = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The order of the members is part of the format. */
function toText({ before, after, ...row }: ChainRow): string {
  const { workspace, sequence, previousHash, at, actor, action, subject, requestId } = row
  const start = JSON.stringify({ workspace, sequence, previousHash, at, actor, action, subject, requestId })
  return `${start.slice(0, -1)},"before":${inOneLine(before)},"after":${inOneLine(after)}}`
}

/** Line breaks in JSON text are always white space between values. */
const inOneLine = (json: string | null): string => (json ?? 'null').replaceAll(/[\r\n]/g, ' ')

/** The kinds of breaks of a chain. */
export const breakKinds = ['changed', 'removed', 'inserted', 'replaced', 'truncated'] as const

/** The first break of a chain. */
export interface ChainBreak {
  readonly kind: (typeof breakKinds)[number]
  /** The number of the row where the chain breaks. */
  readonly sequence: number
  readonly message: string
  readonly row: HashedRow | null
}

interface ChainOptions {
  /** The number of the row before the first one; 0 for a complete chain. */
  readonly after?: number | undefined
  /** A hash that was noted earlier and must still be in the chain. */
  readonly head?: string | undefined
}

/** Verifies the rows of a chain one after the other, oldest first, and keeps the first break. */
export class ChainVerifier {
  readonly #noted: string | undefined
  #last: { readonly sequence: number; readonly hash: string | undefined }
  #rows = 0
  #isNotedFound: boolean
  #stored: ChainHead | undefined
  #break: ChainBreak | undefined

  constructor({ after = 0, head }: ChainOptions = {}) {
    this.#last = { sequence: after, hash: after === 0 ? chainStart : undefined }
    this.#noted = head
    this.#isNotedFound = head === undefined
  }

  get firstBreak(): ChainBreak | undefined {
    return this.#break
  }

  /** The last intact row. */
  get head(): ChainHead | undefined {
    const { sequence, hash } = this.#last
    return hash === undefined || this.#rows === 0 ? undefined : { sequence, hash }
  }

  /** The number of intact rows. */
  get rows(): number {
    return this.#rows
  }

  /** Sets the head that is stored beside the rows; without one the end is not verified. */
  expectHead(stored: ChainHead): void {
    this.#stored = stored
  }

  /** Verifies the next row; `computed` is the hash of its content. */
  add(row: HashedRow, computed: string): void {
    this.#break ??= this.#findBreak(row, computed)
    if (this.#break !== undefined) return
    if (row.hash === this.#noted || (this.#rows === 0 && row.previousHash === this.#noted)) this.#isNotedFound = true
    this.#rows++
    this.#last = { sequence: row.sequence as number, hash: row.hash as string }
  }

  /** Reports a line that is not a row. */
  addUnreadable(): void {
    const sequence = this.#last.sequence + 1
    this.#break ??= { kind: 'changed', sequence, message: `Row ${sequence} is not readable.`, row: null }
  }

  /** Compares the end of the chain with the stored head and the noted hash. */
  finish(): void {
    this.#break ??= this.#findEndBreak()
  }

  #findBreak(row: HashedRow, computed: string): ChainBreak | undefined {
    const { sequence: last, hash: lastHash } = this.#last
    const { sequence, previousHash, hash } = row
    const at = (kind: ChainBreak['kind'], number: number, message: string) => ({ kind, sequence: number, message, row })
    if (sequence === null || hash === null)
      return at('inserted', last + 1, `A row after row ${last} was written outside the chain.`)
    if (sequence <= last) return at('inserted', sequence, `Row ${sequence} occurs after row ${last}: a copy, or moved.`)
    if (this.#stored !== undefined && sequence > this.#stored.sequence)
      return at('inserted', sequence, `Row ${sequence} is beyond the head of the chain, row ${this.#stored.sequence}.`)
    if (hash !== computed)
      return at('changed', sequence, `Row ${sequence} was changed: its content does not match its hash.`)
    if (sequence > last + 1)
      return at('removed', last + 1, `${rowsText(last + 1, sequence - 1)} missing before row ${sequence}.`)
    if (lastHash === undefined || previousHash === lastHash) return undefined
    if (last === 0) return at('replaced', 1, 'Row 1 was replaced: it follows another row.')
    return at('replaced', last, `Row ${last} was replaced: row ${sequence} follows a row with another hash.`)
  }

  #findEndBreak(): ChainBreak | undefined {
    const { sequence, hash } = this.#last
    const stored = this.#stored
    const at = (kind: ChainBreak['kind'], number: number, message: string) =>
      ({ kind, sequence: number, message, row: null }) as const
    if (stored !== undefined && stored.sequence > sequence)
      return at('truncated', sequence + 1, `${rowsText(sequence + 1, stored.sequence)} missing at the end.`)
    if (stored !== undefined && hash !== undefined && this.#rows > 0 && stored.hash !== hash)
      return at('replaced', sequence, `Row ${sequence} was replaced: the head of the chain has another hash.`)
    if (this.#isNotedFound) return undefined
    return at('truncated', sequence + 1, `No row has the hash ${this.#noted}: rows were removed or rewritten.`)
  }
}

const rowsText = (first: number, last: number): string =>
  first === last ? `Row ${first} is` : `Rows ${first} to ${last} are`
