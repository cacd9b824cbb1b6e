/** The receivers of lines; a line beyond the limit is dropped while it arrives. */
export interface LineReceivers {
  readonly maxBytes?: number
  readonly onLine: (line: Buffer<ArrayBuffer>) => void
  /** Called as soon as a line exceeds the limit. */
  readonly onTooLong?: () => void
  /** Called at the end of such a line, with its first and last bytes. */
  readonly onDropped?: (head: Buffer, tail: Buffer) => void
}

const newline = 0x0a
const sampleBytes = 1024

/** Splits a byte stream at line feeds: JSON strings may contain other line separators. */
export class LineSplitter {
  readonly #receivers: LineReceivers
  readonly #maxBytes: number
  #parts: Uint8Array[] = []
  #bytes = 0
  #head: Buffer | undefined
  #tail: Buffer = Buffer.alloc(0)

  constructor(receivers: LineReceivers) {
    this.#receivers = receivers
    this.#maxBytes = receivers.maxBytes ?? Number.POSITIVE_INFINITY
  }

  push(chunk: Uint8Array): void {
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      this.#add(chunk.subarray(from, end))
      this.#endLine()
      from = end + 1
    }
    this.#add(chunk.subarray(from))
  }

  /** Ends the last line, unless it is empty. */
  end(): void {
    if (this.#bytes > 0) this.#endLine()
  }

  #add(part: Uint8Array): void {
    this.#bytes += part.length
    if (this.#bytes > this.#maxBytes) this.#drop(part)
    else if (part.length > 0) this.#parts.push(part)
  }

  #drop(part: Uint8Array): void {
    const parts = [...this.#parts, part]
    this.#parts = []
    if (this.#head === undefined) {
      this.#head = Buffer.concat(parts, Math.min(this.#bytes, sampleBytes))
      this.#receivers.onTooLong?.()
    }
    const ends = [this.#tail, ...parts].map((piece) => piece.subarray(-sampleBytes))
    this.#tail = Buffer.concat(ends).subarray(-sampleBytes)
  }

  #endLine(): void {
    const [parts, bytes, head, tail] = [this.#parts, this.#bytes, this.#head, this.#tail]
    this.#parts = []
    this.#bytes = 0
    this.#head = undefined
    this.#tail = Buffer.alloc(0)
    if (head === undefined) this.#receivers.onLine(Buffer.concat(parts, bytes))
    else this.#receivers.onDropped?.(head, tail)
  }
}
