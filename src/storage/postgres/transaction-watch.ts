const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])
const idle = 'I'.charCodeAt(0)

/** Tells from what goes over a line whether a transaction is open on it. */
export class TransactionWatch {
  /** The names under which this line has prepared the words that end a transaction. */
  readonly #endings = new Set<string>()
  #tail: Buffer = Buffer.alloc(0)
  #inside = false

  get open(): boolean {
    return this.#inside
  }

  /** What was sent; after the word that ends a transaction the driver writes no more for it. */
  sent(chunk: Uint8Array): void {
    // The words are short; whatever is longer is none of them.
    if (!this.#inside || chunk.length > 300) return
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1')
    const [, name] = /P.{4}([^\0]*)\0(?:commit|rollback)\0/s.exec(text) ?? []
    if (name !== undefined) this.#endings.add(name)
    for (const ending of this.#endings) if (text.includes(`\0${ending}\0`)) this.#inside = false
    if (name !== undefined) this.#inside = false
  }

  /** What came; true where the server is ready for more, so that nothing is outstanding. */
  received(chunk: Buffer): boolean {
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-6)]).subarray(-6)
    if (!this.#tail.subarray(0, 5).equals(readyForQuery)) return false
    this.#inside = this.#tail[5] !== idle
    return true
  }
}
