/** Reads once for all who ask for the same in one turn of the event loop: nobody gets what was read before they asked. */
export class SharedReads<Value> {
  readonly #waiting = new Map<string, Promise<Value>>()

  read(key: string, ask: () => Promise<Value>): Promise<Value> {
    const known = this.#waiting.get(key)
    if (known !== undefined) return known
    const read = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#waiting.delete(key)
      return ask()
    })
    this.#waiting.set(key, read)
    return read
  }
}
