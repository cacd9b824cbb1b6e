const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])
const idle = 'I'.charCodeAt(0)

/** Tells from what goes over a line what the server still owes, and whether a transaction is open on it. */
export class ResponseWatch {
  #tail: Buffer = Buffer.alloc(0)
  #outstanding = false
  #inside = false
  #ready = false

  /** Whether the server has let us in. */
  get ready(): boolean {
    return this.#ready
  }

  /** Whether a transaction is open, and then whether it waits for an answer or has yet to say what comes next. */
  get transaction(): 'none' | 'asking' | 'thinking' {
    if (!this.#inside) return 'none'
    return this.#outstanding ? 'asking' : 'thinking'
  }

  sent(): void {
    this.#outstanding = true
  }

  /** What came; true where the server is ready for more, so that nothing is outstanding. */
  received(chunk: Buffer): boolean {
    this.#tail = chunk.length >= 6 ? chunk.subarray(-6) : Buffer.concat([this.#tail, chunk]).subarray(-6)
    if (!this.#tail.subarray(0, 5).equals(readyForQuery)) return false
    this.#inside = this.#tail[5] !== idle
    this.#ready = true
    this.#outstanding = false
    return true
  }
}
