import { Transform } from 'node:stream'
import { hasLarge, quoteLarge } from '../../base/exact-numbers.ts'

const newline = 0x0a
// Enough of both ends of a dropped line to find the id in.
const keptBytes = 1024

/** Passes lines on whole; one that is too long is dropped as it comes, and its two ends are reported when it is over. */
export function createLineReader(maxBytes: number, onTooLong: (head: string, tail: string) => void): Transform {
  let held: Buffer[] = []
  let size = 0
  let head: Buffer | undefined
  let tail: Buffer = Buffer.alloc(0)

  const drop = (part: Buffer): void => {
    head ??= Buffer.concat([...held, part], Math.min(size, keptBytes))
    tail = Buffer.concat([tail, ...held, part].map((piece) => piece.subarray(-keptBytes))).subarray(-keptBytes)
    held = []
  }
  const add = (part: Buffer): void => {
    size += part.length
    if (size > maxBytes) drop(part)
    else if (part.length > 0) held.push(part)
  }
  const endLine = (): Buffer | undefined => {
    const line = head === undefined ? Buffer.concat(held) : undefined
    if (head !== undefined) onTooLong(head.toString(), tail.toString())
    held = []
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

/** A number that would be read as another is handed on as the text that it is. */
function exactLine(line: Buffer): Buffer {
  return hasLarge(line.toString('latin1')) ? Buffer.from(quoteLarge(line.toString('utf8'))) : line
}

const idPattern = '"id"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*"|-?\\d+)'
// Before its parameters a message has short texts only; what stands last in a line closes the outermost object.
const inHead = new RegExp(`^\\s*\\{\\s*(?:"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]*"\\s*,\\s*)*${idPattern}\\s*,`)
const inTail = new RegExp(`${idPattern}\\s*(?:,\\s*"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]*"\\s*)*\\}\\s*$`)

/** The id of a message of which only the two ends are known. */
export function findId(head: string, tail: string): string | number | null {
  const written = (inHead.exec(head) ?? inTail.exec(tail))?.[1]
  try {
    return written === undefined ? null : (JSON.parse(written) as string | number)
  } catch {
    return null
  }
}
