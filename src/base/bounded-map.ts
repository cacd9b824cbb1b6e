/** A map of bounded size: a set entry becomes the newest, and the oldest one is evicted. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number

  constructor(max: number) {
    super()
    this.#max = max
  }

  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > this.#max) this.delete(this.keys().next().value as Key)
    return this
  }

  /** The value of a key, or a new one; used entries are evicted last. */
  take(key: Key, create: () => Value): Value {
    const value = this.has(key) ? (this.get(key) as Value) : create()
    this.set(key, value)
    return value
  }
}
