/** Combines equal reads of one turn of the event loop; no caller gets a value that was read before its request. */
export class SharedReads<Value> {
  readonly #waiting = new Map<string, Promise<Value>>()

  read(key: string, query: () => Promise<Value>): Promise<Value> {
    const pending = this.#waiting.get(key)
    if (pending !== undefined) return pending
    const read = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#waiting.delete(key)
      return query()
    })
    this.#waiting.set(key, read)
    return read
  }
}
