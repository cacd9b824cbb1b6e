import { Transform } from 'node:stream'
import { hasLarge, quoteLarge } from '../../base/exact-numbers.ts'

const newline = 0x0a
// Enough of both ends of a dropped line to find the id.
const sampleBytes = 1024

/** Forwards whole lines; a line over the limit is dropped while it arrives, and its two ends are reported at its end. */
export function createLineReader(maxBytes: number, onTooLong: (head: string, tail: string) => void): Transform {
  let chunks: Buffer[] = []
  let size = 0
  let head: Buffer | undefined
  let tail: Buffer = Buffer.alloc(0)

  const drop = (part: Buffer): void => {
    head ??= Buffer.concat([...chunks, part], Math.min(size, sampleBytes))
    tail = Buffer.concat([tail, ...chunks, part].map((piece) => piece.subarray(-sampleBytes))).subarray(-sampleBytes)
    chunks = []
  }
  const add = (part: Buffer): void => {
    size += part.length
    if (size > maxBytes) drop(part)
    else if (part.length > 0) chunks.push(part)
  }
  const endLine = (): Buffer | undefined => {
    const line = head === undefined ? Buffer.concat(chunks) : undefined
    if (head !== undefined) onTooLong(head.toString(), tail.toString())
    chunks = []
    size = 0
    head = undefined
    tail = Buffer.alloc(0)
    return line
  }
  return new Transform({
    transform(chunk: Buffer, _, done) {
      let rest = chunk
      for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
        add(rest.subarray(0, end + 1))
        const line = endLine()
        if (line !== undefined) this.push(exactLine(line))
        rest = rest.subarray(end + 1)
      }
      add(rest)
      done()
    },
  })
}

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
