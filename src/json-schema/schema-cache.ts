import { createHash } from 'node:crypto'
import type { SchemaValidator } from './schema-validator.ts'

/** Remembers the validators used last, by what their schemas say; the one not used for longest is forgotten. */
export class SchemaCache {
  readonly #known = new Map<string, SchemaValidator>()
  readonly #most: number

  /** Each validator that was used holds some 50 KB. */
  constructor(most = 500) {
    this.#most = most
  }

  get size(): number {
    return this.#known.size
  }

  /** The validator of a schema, made where it is not known. */
  take(schema: unknown, make: () => SchemaValidator): SchemaValidator {
    const key = createHash('sha256')
      .update(JSON.stringify(schema) ?? '')
      .digest('base64')
    const found = this.#known.get(key) ?? make()
    this.#known.delete(key)
    this.#known.set(key, found)
    if (this.#known.size > this.#most) this.#known.delete(this.#known.keys().next().value ?? '')
    return found
  }
}
