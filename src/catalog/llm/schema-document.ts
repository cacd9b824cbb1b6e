import type { JsonSchema } from '../../contract/input-schema.ts'
import { isObject } from './json-value.ts'

// What lies deeper is never followed; naming it would cost more than it holds.
const longestPointer = 8000

/** A stored schema, and where each part of it is; it is only read. */
export class SchemaDocument {
  readonly root: JsonSchema
  /** Before 2019-09 whatever stands beside a `$ref` has no meaning. */
  readonly ignoresRefSiblings: boolean
  readonly #pointers = new WeakMap<object, string>()

  constructor(root: JsonSchema) {
    this.root = root
    this.ignoresRefSiblings = /draft-0[3-7]/.test(String(root.$schema))
    this.#locate()
  }

  /** Where a part is; a part made from another is where that one is. */
  pointerOf(part: object): string {
    return this.#pointers.get(part) ?? ''
  }

  /** Says that a new part stands for one of the document. */
  derive(part: JsonSchema, from: object): JsonSchema {
    if (!this.#pointers.has(part)) this.#pointers.set(part, this.pointerOf(from))
    return part
  }

  /** Where a keyword of a part is, or the part itself where the keyword came from elsewhere. */
  keywordPointer(part: object, keyword: string): string {
    const own = this.pointerOf(part)
    const pointer = `${own}/${escapeKey(keyword)}`
    return this.at(pointer) === undefined ? own : pointer
  }

  /** What a reference within the document points to: a schema, or nothing. */
  lookUp(reference: unknown): JsonSchema | boolean | undefined {
    if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) return undefined
    const found = this.at(decode(reference.slice(1)))
    return isObject(found) || typeof found === 'boolean' ? found : undefined
  }

  /** The value at a JSON pointer. */
  at(pointer: string): unknown {
    let value: unknown = this.root
    for (const step of pointer.split('/').slice(1)) {
      const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
      value = (value as JsonSchema)[key]
    }
    return value
  }

  #locate(): void {
    const waiting: [object, string][] = [[this.root, '']]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [part, pointer] = next
      if (this.#pointers.has(part) || pointer.length > longestPointer) continue
      this.#pointers.set(part, pointer)
      for (const [key, value] of Object.entries(part)) {
        if (typeof value === 'object' && value !== null) waiting.push([value, `${pointer}/${escapeKey(key)}`])
      }
    }
  }
}

const escapeKey = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
