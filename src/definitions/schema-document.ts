import { isObject } from '../base/same-json.ts'
import type { JsonSchema } from '../contract/input-schema.ts'

// What lies deeper is never followed; naming it would cost more than it holds.
const maxPointerLength = 8000

/** A keyword in a place of the document. */
export interface KeywordLocation {
  readonly pointer: string
  readonly name: string
}

/** A stored schema, and where each part of it is; it is only read. */
export class SchemaDocument {
  readonly root: JsonSchema
  /** Before 2019-09 whatever stands beside a `$ref` has no meaning. */
  readonly ignoresRefSiblings: boolean
  readonly #pointers = new WeakMap<object, string>()
  /** Of parts made from several: where each keyword came from. */
  readonly #places = new WeakMap<object, ReadonlyMap<string, readonly KeywordLocation[]>>()
  readonly #anchors = new Map<string, JsonSchema>()

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
    if (this.#pointers.has(part)) return part
    this.#pointers.set(part, this.pointerOf(from))
    const places = this.#places.get(from)
    if (places !== undefined) this.#places.set(part, places)
    return part
  }

  /** Says that a new part stands where another does, with keywords of two. */
  deriveFromBoth(part: JsonSchema, from: object, both: readonly [JsonSchema, JsonSchema]): JsonSchema {
    if (this.#pointers.has(part)) return part
    this.#pointers.set(part, this.pointerOf(from))
    const places = Object.keys(part).map((key) => {
      const having = both.filter((each) => Object.hasOwn(each, key))
      return [key, having.flatMap((each) => this.placesOf(each, key))] as const
    })
    this.#places.set(part, new Map(places))
    return part
  }

  /** Says that a new part has one keyword, which stands for one of another part. */
  deriveKeyword(part: JsonSchema, from: object, keyword: string): JsonSchema {
    this.#pointers.set(part, this.pointerOf(from))
    this.#places.set(part, new Map(Object.keys(part).map((key) => [key, this.placesOf(from, keyword)])))
    return part
  }

  /** Where a keyword of a part is and what it is called there; the part itself where the keyword stands nowhere. */
  placesOf(part: object, keyword: string): readonly KeywordLocation[] {
    const own = this.pointerOf(part)
    const names = [keyword, ...(olderNames[keyword] ?? [])]
    const found = names.map((name) => this.#places.get(part)?.get(name)).find((places) => places !== undefined)
    if (found !== undefined) return found
    const stored = this.at(own)
    const isTuple = isObject(stored) && Array.isArray(stored.items)
    const name = names.find((each) => !(isTuple && keyword === each && each === 'items') && has(stored, each))
    return [name === undefined ? { pointer: own, name: keyword } : { pointer: `${own}/${escapeKey(name)}`, name }]
  }

  /** Where something inside a keyword of a part is, or as near to it as can be said. */
  insideOf(part: object, keyword: string, step?: string | number): string {
    return this.placesInside(part, keyword, step)[0] ?? this.pointerOf(part)
  }

  /** The same, in each place that the keyword came from and that has it. */
  placesInside(part: object, keyword: string, step?: string | number): readonly string[] {
    const places = this.placesOf(part, keyword).map(({ pointer }) => pointer)
    const found = step === undefined ? [] : places.filter((pointer) => has(this.at(pointer), String(step)))
    return found.length > 0 ? found.map((pointer) => `${pointer}/${escapeKey(String(step))}`) : places
  }

  /** What a reference within the document points to: a schema, or nothing. */
  lookUp(reference: unknown): JsonSchema | boolean | undefined {
    if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined
    if (!/^#(\/|$)/.test(reference)) return this.#anchors.get(reference.slice(1))
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
      if (this.#pointers.has(part) || pointer.length > maxPointerLength) continue
      this.#pointers.set(part, pointer)
      if ('$anchor' in part && typeof part.$anchor === 'string') this.#anchors.set(part.$anchor, part as JsonSchema)
      for (const [key, value] of Object.entries(part)) {
        if (typeof value === 'object' && value !== null) waiting.push([value, `${pointer}/${escapeKey(key)}`])
      }
    }
  }
}

/** What a keyword may stand for: schemas are read as 2020-12 has them, and written as the provider has them. */
const olderNames: Record<string, readonly string[]> = {
  prefixItems: ['items'],
  items: ['additionalItems'],
  dependentRequired: ['dependencies'],
  dependentSchemas: ['dependencies'],
  enum: ['const'],
  anyOf: ['oneOf'],
}

const has = (value: unknown, key: string): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)

const escapeKey = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
