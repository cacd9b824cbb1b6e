import { createHash } from 'node:crypto'
import type { ChainRow, HashedRow } from '../contract/audit.ts'

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
