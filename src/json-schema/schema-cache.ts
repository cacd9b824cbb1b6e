import { createHash } from 'node:crypto'
import type { SchemaValidator } from './schema-validator.ts'

/** An LRU cache of validators by the content of their schemas. */
export class SchemaCache {
  readonly #entries = new Map<string, SchemaValidator>()
  readonly #maxEntries: number

  /** A used validator takes about 50 KB. */
  constructor(maxEntries = 500) {
    this.#maxEntries = maxEntries
  }

  get size(): number {
    return this.#entries.size
  }

  /** The cached validator of a schema, or a new one from `create`. */
  take(schema: unknown, create: () => SchemaValidator): SchemaValidator {
    const key = createHash('sha256')
      .update(JSON.stringify(schema) ?? '')
      .digest('base64')
    const found = this.#entries.get(key) ?? create()
    this.#entries.delete(key)
    this.#entries.set(key, found)
    if (this.#entries.size > this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value ?? '')
    return found
  }
}
