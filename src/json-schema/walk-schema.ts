import { type Problem, toPointer } from '../base/problem.ts'
import { suggestionSteps, WorkBudget } from '../base/work-budget.ts'
import { checkKeyword, type KeywordFault } from './check-keyword.ts'
import { type Dialect, type KeywordKind, keywords } from './keywords.ts'
import { schemaLimits, stepCosts } from './limits.ts'

export type SchemaObject = { readonly [key: string]: unknown }
type Path = readonly PropertyKey[]

/** A `$ref` that was met: where, to what, and in which part of the document it counts. */
export interface SchemaRef {
  readonly path: Path
  readonly ref: string
  readonly holder: SchemaObject
  readonly resource: Resource
}

/** A part of the document with an identity of its own: where `#` leads to from inside it. */
export interface Resource {
  readonly root: SchemaObject
  readonly path: Path
  readonly anchors: Map<string, SchemaObject>
}

/** Walks all schemas in a schema, remembers refs and anchors, and says what is wrong with the keywords. */
export class SchemaWalk {
  readonly problems: Problem[] = []
  readonly refs: SchemaRef[] = []
  readonly seen = new Map<SchemaObject, Path>()
  readonly #keywords: ReadonlyMap<string, KeywordKind>
  readonly #pointer: string
  readonly #dialect: Dialect
  readonly #budget: WorkBudget
  /** Bounds the suggestions for names that are not there. */
  readonly suggestions = new WorkBudget(suggestionSteps)

  constructor(dialect: Dialect, pointer: string, budget: WorkBudget) {
    this.#dialect = dialect
    this.#budget = budget
    this.#keywords = keywords[dialect]
    this.#pointer = pointer
  }

  say(path: Path, message: string, hint?: string): void {
    this.#report({ path, message, ...(hint === undefined ? {} : { hint }) })
  }

  #report({ path, ...fault }: KeywordFault, around: Path = []): void {
    this.problems.push({ severity: 'error', pointer: this.#pointer + toPointer([...around, ...path]), ...fault })
  }

  /** Walks the schema at a path; `around` is the part of the document it stands in. */
  walk(schema: unknown, path: Path, around?: Resource): void {
    if (typeof schema === 'boolean') return
    if (!isSchemaObject(schema)) {
      this.say(path, `${nameOf(path)} must be a schema: an object, true or false`)
      return
    }
    if (this.seen.has(schema) || this.seen.size > schemaLimits.subschemas) return
    this.seen.set(schema, path)
    this.#budget.spend(stepCosts.subschema, this.#pointer + toPointer(path))
    if (this.seen.size > schemaLimits.subschemas) {
      this.say([], `the schema has more than ${schemaLimits.subschemas} schemas in it`, 'make it simpler')
      return
    }
    const resource = this.#enter(schema, path, around)
    this.#note(schema, path, resource)
    for (const [word, value] of Object.entries(schema)) this.#walkKeyword(word, value, [...path, word], resource)
  }

  #enter(schema: SchemaObject, path: Path, around: Resource | undefined): Resource {
    const id = schema.$id
    const starts = typeof id === 'string' && !id.startsWith('#')
    return around === undefined || starts ? { root: schema, path, anchors: new Map() } : around
  }

  #note(schema: SchemaObject, path: Path, resource: Resource): void {
    const old = this.#dialect === 'draft-07'
    const { $id, $anchor, $dynamicAnchor } = schema
    if (!old && typeof $id === 'string' && $id.includes('#'))
      this.say([...path, '$id'], '$id may have no fragment in 2020-12', 'use $anchor instead')
    const anchors = old
      ? [typeof $id === 'string' && $id.startsWith('#') ? $id.slice(1) : '']
      : [$anchor, $dynamicAnchor]
    for (const anchor of anchors) if (typeof anchor === 'string' && anchor !== '') resource.anchors.set(anchor, schema)
    for (const word of old ? ['$ref'] : ['$ref', '$dynamicRef']) {
      const ref = schema[word]
      if (typeof ref === 'string') this.refs.push({ path: [...path, word], ref, holder: schema, resource })
    }
  }

  #walkKeyword(word: string, value: unknown, path: Path, resource: Resource): void {
    const kind = this.#keywords.get(word)
    if (kind === undefined) return
    if (kind === 'schema') this.#walkSchema(word, value, path, resource)
    else if (kind === 'items' && !Array.isArray(value)) this.walk(value, path, resource)
    else if (kind === 'schemas' || kind === 'items') this.#walkList(word, value, path, resource)
    else if (kind === 'schema map' || kind === 'pattern map' || kind === 'dependencies')
      this.#walkMap(kind, value, path, resource)
    else for (const found of checkKeyword(kind, value, word, this.#budget)) this.#report(found, path)
  }

  #walkSchema(word: string, value: unknown, path: Path, resource: Resource): void {
    if (word !== 'items' || !Array.isArray(value)) {
      this.walk(value, path, resource)
      return
    }
    const hint = 'use prefixItems, or say "$schema": "http://json-schema.org/draft-07/schema#"'
    this.say(path, 'items must be one schema in 2020-12, not a list', hint)
  }

  #walkList(word: string, value: unknown, path: Path, resource: Resource): void {
    if (!Array.isArray(value)) {
      this.#report({ path, message: `${word} must be a list of schemas`, kind: 'not-array' })
      return
    }
    if (value.length === 0) this.say(path, `${word} must have at least one schema`)
    if (value.length > schemaLimits.branches) {
      this.say(path, `${word} has ${value.length} schemas, ${schemaLimits.branches} are allowed`, 'make it simpler')
      return
    }
    for (const [index, schema] of value.entries()) this.walk(schema, [...path, index], resource)
  }

  #walkMap(kind: KeywordKind, value: unknown, path: Path, resource: Resource): void {
    if (!isSchemaObject(value)) {
      this.#report({ path, message: `${String(path.at(-1))} must be an object`, kind: 'not-object' })
      return
    }
    for (const [name, held] of Object.entries(value)) {
      const place = [...path, name]
      if (name === '__proto__') this.say(place, "no property may be called '__proto__'", 'choose another name')
      if (kind === 'pattern map')
        for (const found of checkKeyword('pattern', name, `the pattern '${name.slice(0, 100)}'`, this.#budget))
          this.#report({ ...found, path: place })
      if (kind !== 'dependencies' || !Array.isArray(held)) this.walk(held, place, resource)
      else for (const found of checkKeyword('names', held, name, this.#budget)) this.#report(found, place)
    }
  }
}

const nameOf = (path: Path) => (path.length === 0 ? 'it' : String(path.at(-1)))

export const isSchemaObject = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
