const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])
const idle = 'I'.charCodeAt(0)

/** Tracks from the bytes of a connection whether a response is outstanding and whether a transaction is open. */
export class ResponseWatch {
  #tail: Buffer = Buffer.alloc(0)
  #outstanding = false
  #inside = false
  #ready = false

  /** Whether the server has accepted the connection. */
  get ready(): boolean {
    return this.#ready
  }

  /** Whether a transaction is open, and whether it waits for a response or for the next statement. */
  get transaction(): 'none' | 'waiting' | 'idle' {
    if (!this.#inside) return 'none'
    return this.#outstanding ? 'waiting' : 'idle'
  }

  sent(): void {
    this.#outstanding = true
  }

  /** Records received bytes; true where the server is ready for the next query, so that nothing is outstanding. */
  received(chunk: Buffer): boolean {
    this.#tail = chunk.length >= 6 ? chunk.subarray(-6) : Buffer.concat([this.#tail, chunk]).subarray(-6)
    if (!this.#tail.subarray(0, 5).equals(readyForQuery)) return false
    this.#inside = this.#tail[5] !== idle
    this.#ready = true
    this.#outstanding = false
    return true
  }
}
