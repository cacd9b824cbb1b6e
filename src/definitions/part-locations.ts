import { isObject } from '../base/json-values.ts'
import { toPointer } from '../base/problem.ts'
import type { JsonSchema } from '../contract/input-schema.ts'
import { type SchemaDocument, valueAt } from '../json-schema/schema-document.ts'

// Long pointers are expensive.
const maxPointerLength = 8000

/** The pointer and the stored name of a keyword. */
export interface KeywordLocation {
  readonly pointer: string
  readonly name: string
}

/** The locations of the parts of a schema in its document, including parts that were derived from them. */
export class PartLocations {
  readonly #document: SchemaDocument
  readonly #pointers = new WeakMap<object, string>()
  /** The origins of the keywords of merged parts. */
  readonly #origins = new WeakMap<object, ReadonlyMap<string, readonly KeywordLocation[]>>()

  constructor(document: SchemaDocument) {
    this.#document = document
  }

  /** The pointer of a part; a derived part has the pointer of its origin. */
  pointerOf(part: object): string {
    const pointer = this.#document.find(part)?.pointer ?? this.#pointers.get(part) ?? ''
    return pointer.length > maxPointerLength ? '' : pointer
  }

  #isLocated = (part: object) => this.#document.find(part) !== undefined || this.#pointers.has(part)

  /** Registers a new part as derived from a part of the document. */
  derive(part: JsonSchema, from: object): JsonSchema {
    if (this.#isLocated(part)) return part
    this.#pointers.set(part, this.pointerOf(from))
    const origins = this.#origins.get(from)
    if (origins !== undefined) this.#origins.set(part, origins)
    return part
  }

  /** Registers a new part with the pointer of one part and the keywords of two. */
  deriveFromBoth(part: JsonSchema, from: object, both: readonly [JsonSchema, JsonSchema]): JsonSchema {
    if (this.#isLocated(part)) return part
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
    const stored = valueAt(this.#document.stored, own)
    const isTuple = isObject(stored) && Array.isArray(stored.items)
    const name = names.find((each) => !(isTuple && keyword === each && each === 'items') && has(stored, each))
    return [name === undefined ? { pointer: own, name: keyword } : { pointer: own + toPointer([name]), name }]
  }

  /** The pointer of an entry of a keyword, or the nearest one that exists. */
  insideOf(part: object, keyword: string, step?: string | number): string {
    return this.pointersInside(part, keyword, step)[0] ?? this.pointerOf(part)
  }

  /** The same for each origin of the keyword that has the entry. */
  pointersInside(part: object, keyword: string, step?: string | number): readonly string[] {
    const origins = this.originsOf(part, keyword).map(({ pointer }) => pointer)
    const found =
      step === undefined ? [] : origins.filter((pointer) => has(valueAt(this.#document.stored, pointer), String(step)))
    return found.length > 0 ? found.map((pointer) => pointer + toPointer([step ?? ''])) : origins
  }
}

/** The stored names of keywords that were normalized to 2020-12 or converted for a provider. */
const olderNames: Record<string, readonly string[]> = {
  $ref: ['$dynamicRef'],
  prefixItems: ['items'],
  items: ['additionalItems'],
  dependentRequired: ['dependencies'],
  dependentSchemas: ['dependencies'],
  enum: ['const'],
  anyOf: ['oneOf'],
}

const has = (value: unknown, key: string): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
