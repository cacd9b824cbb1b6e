import { isObject } from '../base/json-values.ts'
import { toPointer } from '../base/problem.ts'
import { OutOfBudget } from '../base/work-budget.ts'
import type { Loss } from '../contract/llm.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { SchemaDocument, valueAtPointer } from '../json-schema/schema-document.ts'
import { isVacuous, type ProviderDialect, silentKeywords } from './dialects.ts'

/** Limits of a conversion; the parts beyond them accept any value. */
export const compileLimits = {
  /** Subschemas in the result. */
  schemas: 3000,
  /** Characters of enum values, strings and names in the result. */
  characters: 200_000,
  /** Levels of nested subschemas. */
  depth: 40,
  /** Expansions of a recursive schema along one path. */
  repeats: 2,
  /** References followed and schemas merged. */
  steps: 1000,
} as const

/** The state of one conversion: the document, the losses, and the remaining budget. */
export class CompileState {
  readonly document: SchemaDocument
  readonly parts: PartLocations
  readonly dialect: ProviderDialect
  readonly #losses = new Map<string, Loss>()
  /** The number of reported losses, repeated ones included. */
  #times = 0
  #schemas = 0
  #characters = 0
  #steps = 0

  readonly #maxWork: number

  /** `maxWork` is the number of schemas and steps after which OutOfBudget is thrown. */
  constructor(root: JsonSchema, dialect: ProviderDialect, maxWork = Number.POSITIVE_INFINITY) {
    this.#maxWork = maxWork
    this.document = new SchemaDocument(root)
    this.parts = new PartLocations(this.document)
    this.dialect = dialect
  }

  /** The whole schema, normalized. */
  get root(): JsonSchema {
    return this.document.root as JsonSchema
  }

  get losses(): Loss[] {
    return [...this.#losses.values()]
  }

  /** Reports the loss of a keyword of a part; repeated reports count once. */
  lose(part: object, lost: string, why: string): void {
    for (const { pointer, name } of this.parts.originsOf(part, lost)) this.loseAt(pointer, name, why)
  }

  /** Reports the loss of names from an array of a part, at each of its origins. */
  loseNames(part: object, lost: string, names: readonly unknown[], why: string): void {
    for (const { pointer, name } of this.parts.originsOf(part, lost)) {
      const listed = valueAtPointer(this.document.stored, pointer)
      if (!Array.isArray(listed) || names.some((each) => listed.includes(each))) this.loseAt(pointer, name, why)
    }
  }

  /** Reports the loss of all keywords of a part except `kept` and those without effect. */
  loseAllBut(part: JsonSchema, kept: readonly string[], why: string): void {
    for (const key of Object.keys(part)) {
      if (!kept.includes(key) && !silentKeywords.has(key) && !isVacuous(key, part[key])) this.lose(part, key, why)
    }
  }

  get timesLost(): number {
    return this.#times
  }

  /** Reports a loss at a pointer. */
  loseAt(pointer: string, lost: string, why: string): void {
    this.#times += 1
    const key = JSON.stringify([pointer, lost])
    if (!this.#losses.has(key)) this.#losses.set(key, { pointer, lost, why })
  }

  /** Spends one schema of this many characters; false if the budget is exceeded. */
  trySpend(characters: number): boolean {
    this.#schemas += 1
    this.#characters += characters
    this.#requireWork()
    return this.#schemas <= compileLimits.schemas && this.#characters <= compileLimits.characters
  }

  /** Spends one step of resolving and merging; false if the budget is exceeded. */
  step(): boolean {
    this.#steps += 1
    this.#requireWork()
    return this.#steps <= compileLimits.steps
  }

  #requireWork(): void {
    if (this.#schemas + this.#steps > this.#maxWork) throw new OutOfBudget('the definition')
  }
}

/** The position of the conversion: its depth, and the targets of refs that contain it. */
export interface Path {
  readonly depth: number
  readonly entered: readonly object[]
}

// Long pointers are expensive.
const maxPointerLength = 8000

/** The pointer and the stored name of a keyword. */
interface KeywordLocation {
  readonly pointer: string
  readonly name: string
}

/** The locations of the parts of a schema in its document, including parts that were derived from them. */
class PartLocations {
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
    const stored = valueAtPointer(this.#document.stored, own)
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
      step === undefined
        ? []
        : origins.filter((pointer) => has(valueAtPointer(this.#document.stored, pointer), String(step)))
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
