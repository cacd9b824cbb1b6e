import { isObject } from '../base/json-values.ts'
import type { JsonSchema } from '../contract/input-schema.ts'

// Deeper parts are never converted, and long pointers are expensive.
const maxPointerLength = 8000

/** The pointer and the stored name of a keyword. */
export interface KeywordLocation {
  readonly pointer: string
  readonly name: string
}

/** A stored schema, which is never modified, with the pointers of its parts. */
export class SchemaDocument {
  readonly root: JsonSchema
  /** Drafts before 2019-09 ignore keywords beside a `$ref`. */
  readonly ignoresRefSiblings: boolean
  readonly #pointers = new WeakMap<object, string>()
  /** The origins of the keywords of merged parts. */
  readonly #origins = new WeakMap<object, ReadonlyMap<string, readonly KeywordLocation[]>>()
  readonly #anchors = new Map<string, JsonSchema>()

  constructor(root: JsonSchema) {
    this.root = root
    this.ignoresRefSiblings = /draft-0[3-7]/.test(String(root.$schema))
    this.#locate()
  }

  /** The pointer of a part; a derived part has the pointer of its origin. */
  pointerOf(part: object): string {
    return this.#pointers.get(part) ?? ''
  }

  /** Registers a new part as derived from a part of the document. */
  derive(part: JsonSchema, from: object): JsonSchema {
    if (this.#pointers.has(part)) return part
    this.#pointers.set(part, this.pointerOf(from))
    const origins = this.#origins.get(from)
    if (origins !== undefined) this.#origins.set(part, origins)
    return part
  }

  /** Registers a new part with the pointer of one part and the keywords of two. */
  deriveFromBoth(part: JsonSchema, from: object, both: readonly [JsonSchema, JsonSchema]): JsonSchema {
    if (this.#pointers.has(part)) return part
    this.#pointers.set(part, this.pointerOf(from))
    const origins = Object.keys(part).map((key) => {
      const having = both.filter((each) => Object.hasOwn(each, key))
      return [key, having.flatMap((each) => this.originsOf(each, key))] as const
    })
    this.#origins.set(part, new Map(origins))
    return part
  }

  /** Registers a new part with one keyword, which replaces a keyword of another part. */
  deriveKeyword(part: JsonSchema, from: object, keyword: string): JsonSchema {
    this.#pointers.set(part, this.pointerOf(from))
    this.#origins.set(part, new Map(Object.keys(part).map((key) => [key, this.originsOf(from, keyword)])))
    return part
  }

  /** The pointers and stored names of a keyword of a part; the part itself if the document does not have the keyword. */
  originsOf(part: object, keyword: string): readonly KeywordLocation[] {
    const own = this.pointerOf(part)
    const names = [keyword, ...(olderNames[keyword] ?? [])]
    const found = names.map((name) => this.#origins.get(part)?.get(name)).find((origins) => origins !== undefined)
    if (found !== undefined) return found
    const stored = this.at(own)
    const isTuple = isObject(stored) && Array.isArray(stored.items)
    const name = names.find((each) => !(isTuple && keyword === each && each === 'items') && has(stored, each))
    return [name === undefined ? { pointer: own, name: keyword } : { pointer: `${own}/${escapeKey(name)}`, name }]
  }

  /** The pointer of an entry of a keyword, or the nearest one that exists. */
  insideOf(part: object, keyword: string, step?: string | number): string {
    return this.pointersInside(part, keyword, step)[0] ?? this.pointerOf(part)
  }

  /** The same for each origin of the keyword that has the entry. */
  pointersInside(part: object, keyword: string, step?: string | number): readonly string[] {
    const origins = this.originsOf(part, keyword).map(({ pointer }) => pointer)
    const found = step === undefined ? [] : origins.filter((pointer) => has(this.at(pointer), String(step)))
    return found.length > 0 ? found.map((pointer) => `${pointer}/${escapeKey(String(step))}`) : origins
  }

  /** The target of a ref within the document, or undefined. */
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

/** The stored names of keywords that were normalized to 2020-12 or converted for a provider. */
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
