/** Splits a byte stream into lines; a line beyond the limit is reported once, and the rest of the stream is ignored. */
export class LineSplitter {
  readonly #maxBytes: number
  readonly #onLine: (line: Buffer<ArrayBuffer>) => void
  readonly #onTooLong: () => void
  #parts: Buffer[] = []
  #bytes = 0
  #over = false

  constructor(maxBytes: number, onLine: (line: Buffer<ArrayBuffer>) => void, onTooLong: () => void) {
    this.#maxBytes = maxBytes
    this.#onLine = onLine
    this.#onTooLong = onTooLong
  }

  push(chunk: Buffer): void {
    let from = 0
    while (!this.#over) {
      const end = chunk.indexOf(10, from)
      this.#keep(end === -1 ? chunk.subarray(from) : chunk.subarray(from, end))
      if (end === -1 || this.#over) return
      this.#onLine(this.#take())
      from = end + 1
    }
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length
    if (this.#bytes > this.#maxBytes) {
      this.#over = true
      this.#parts = []
      this.#onTooLong()
    } else if (part.length > 0) this.#parts.push(part)
  }

  #take(): Buffer<ArrayBuffer> {
    const whole = Buffer.concat(this.#parts, this.#bytes)
    this.#parts = []
    this.#bytes = 0
    return whole
  }
}
