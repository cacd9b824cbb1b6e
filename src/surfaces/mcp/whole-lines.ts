import { Transform } from 'node:stream'
import { hasLarge, quoteLarge } from '../../base/exact-numbers.ts'
import { LineSplitter } from '../../base/line-splitter.ts'

/** Forwards whole lines; a line over the limit is dropped while it arrives, and its two ends are reported at its end. */
export function createLineReader(maxBytes: number, onTooLong: (head: string, tail: string) => void): Transform {
  const lines = new LineSplitter({
    maxBytes,
    onLine: (line) => void output.push(Buffer.concat([exactLine(line), newline])),
    onDropped: (head, tail) => onTooLong(head.toString(), tail.toString()),
  })
  const output = new Transform({
    transform(chunk: Buffer, _, done) {
      lines.push(chunk)
      done()
    },
  })
  return output
}

const newline = Buffer.from('\n')

/** Quotes numbers that JSON.parse would round. */
function exactLine(line: Buffer): Buffer {
  return hasLarge(line.toString('latin1')) ? Buffer.from(quoteLarge(line.toString('utf8'))) : line
}

const idPattern = '"id"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*"|-?\\d+)'
// Before its parameters a message has only short strings; the last brace of a line closes the outermost object.
const inHead = new RegExp(`^\\s*\\{\\s*(?:"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]*"\\s*,\\s*)*${idPattern}\\s*,`)
const inTail = new RegExp(`${idPattern}\\s*(?:,\\s*"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]*"\\s*)*\\}\\s*$`)

/** Finds the id of a message in its two ends. */
export function findId(head: string, tail: string): string | number | null {
  const idText = (inHead.exec(head) ?? inTail.exec(tail))?.[1]
  try {
    return idText === undefined ? null : (JSON.parse(idText) as string | number)
  } catch {
    return null
  }
}
