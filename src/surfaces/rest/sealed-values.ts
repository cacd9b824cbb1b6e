import { TooldexError } from '../../base/errors.ts'
import { isObject } from '../../base/json-values.ts'
import type { SecretBox } from '../../contract/secret.ts'

/** Values that only this server, or a replica with its key, can have sealed, each kind for its own purpose. */
export class SealedValues<Value extends object> {
  readonly #box: SecretBox | undefined
  readonly #purpose: string

  constructor(box: SecretBox | undefined, purpose: string) {
    this.#box = box
    this.#purpose = purpose
  }

  seal(value: Value): string {
    if (this.#box === undefined) throw new TooldexError('SECRET_UNAVAILABLE', 'Sessions cannot be sealed here.')
    return this.#box.seal(JSON.stringify(value), this.#purpose)
  }

  /** The value of a sealed text; undefined if it was sealed with another key or for another purpose, or is damaged. */
  open(sealed: string): Value | undefined {
    try {
      const value: unknown = this.#box === undefined ? undefined : JSON.parse(this.#box.open(sealed, this.#purpose))
      return isObject(value) ? (value as Value) : undefined
    } catch {
      return undefined
    }
  }
}
