import { type Problem, toPointer } from '../base/problem.ts'
import { suggestionSteps, WorkBudget } from '../base/work-budget.ts'
import { checkKeyword, type KeywordFault } from './check-keyword.ts'
import { type Dialect, type KeywordKind, keywords } from './keywords.ts'
import { schemaLimits, stepCosts } from './limits.ts'

export type SchemaObject = { readonly [key: string]: unknown }
type Path = readonly PropertyKey[]

/** An occurrence of `$ref` in a schema. */
export interface SchemaRef {
  readonly path: Path
  readonly ref: string
  readonly holder: SchemaObject
  readonly resource: Resource
}

/** A schema resource: the root that `#` refers to, with its anchors. */
export interface Resource {
  readonly root: SchemaObject
  readonly path: Path
  readonly anchors: Map<string, SchemaObject>
}

/** Traverses all subschemas, collects refs and anchors, and reports problems of keywords. */
export class SchemaWalk {
  readonly problems: Problem[] = []
  readonly refs: SchemaRef[] = []
  readonly seen = new Map<SchemaObject, Path>()
  readonly #keywords: ReadonlyMap<string, KeywordKind>
  readonly #pointer: string
  readonly #dialect: Dialect
  readonly #budget: WorkBudget
  /** Bounds the suggestions for unknown names. */
  readonly suggestions = new WorkBudget(suggestionSteps)

  constructor(dialect: Dialect, pointer: string, budget: WorkBudget) {
    this.#dialect = dialect
    this.#budget = budget
    this.#keywords = keywords[dialect]
    this.#pointer = pointer
  }

  report(path: Path, message: string, hint?: string): void {
    this.#add({ path, message, ...(hint === undefined ? {} : { hint }) })
  }

  #add({ path, ...fault }: KeywordFault, base: Path = []): void {
    this.problems.push({ severity: 'error', pointer: this.#pointer + toPointer([...base, ...path]), ...fault })
  }

  /** Walks the schema at a path; `parent` is the resource that contains it. */
  walk(schema: unknown, path: Path, parent?: Resource): void {
    if (typeof schema === 'boolean') return
    if (!isSchemaObject(schema)) {
      this.report(path, `${nameOf(path)} must be a schema: an object, true or false`)
      return
    }
    if (this.seen.has(schema) || this.seen.size > schemaLimits.subschemas) return
    this.seen.set(schema, path)
    this.#budget.spend(stepCosts.subschema, this.#pointer + toPointer(path))
    if (this.seen.size > schemaLimits.subschemas) {
      this.report([], `the schema has more than ${schemaLimits.subschemas} subschemas`, 'simplify it')
      return
    }
    const resource = this.#enter(schema, path, parent)
    this.#collect(schema, path, resource)
    for (const [word, value] of Object.entries(schema)) this.#walkKeyword(word, value, [...path, word], resource)
  }

  #enter(schema: SchemaObject, path: Path, parent: Resource | undefined): Resource {
    const id = schema.$id
    const starts = typeof id === 'string' && !id.startsWith('#')
    return parent === undefined || starts ? { root: schema, path, anchors: new Map() } : parent
  }

  #collect(schema: SchemaObject, path: Path, resource: Resource): void {
    const old = this.#dialect === 'draft-07'
    const { $id, $anchor, $dynamicAnchor } = schema
    if (!old && typeof $id === 'string' && $id.includes('#'))
      this.report([...path, '$id'], '$id must not have a fragment in 2020-12', 'use $anchor instead')
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
    else if (kind === 'schemas' || kind === 'items') this.#walkArray(word, value, path, resource)
    else if (kind === 'schema map' || kind === 'pattern map' || kind === 'dependencies')
      this.#walkMap(kind, value, path, resource)
    else for (const found of checkKeyword(kind, value, word, this.#budget)) this.#add(found, path)
  }

  #walkSchema(word: string, value: unknown, path: Path, resource: Resource): void {
    if (word !== 'items' || !Array.isArray(value)) {
      this.walk(value, path, resource)
      return
    }
    const hint = 'use prefixItems, or set "$schema": "http://json-schema.org/draft-07/schema#"'
    this.report(path, 'items must be one schema in 2020-12, not an array', hint)
  }

  #walkArray(word: string, value: unknown, path: Path, resource: Resource): void {
    if (!Array.isArray(value)) {
      this.#add({ path, message: `${word} must be an array of schemas`, kind: 'not-array' })
      return
    }
    if (value.length === 0) this.report(path, `${word} must have at least one schema`)
    if (value.length > schemaLimits.branches) {
      this.report(
        path,
        `${word} has ${value.length} schemas; at most ${schemaLimits.branches} are allowed`,
        'simplify it',
      )
      return
    }
    for (const [index, schema] of value.entries()) this.walk(schema, [...path, index], resource)
  }

  #walkMap(kind: KeywordKind, value: unknown, path: Path, resource: Resource): void {
    if (!isSchemaObject(value)) {
      this.#add({ path, message: `${String(path.at(-1))} must be an object`, kind: 'not-object' })
      return
    }
    for (const [name, item] of Object.entries(value)) {
      const itemPath = [...path, name]
      if (name === '__proto__')
        this.report(itemPath, "the property name '__proto__' is not allowed", 'choose another name')
      if (kind === 'pattern map')
        for (const found of checkKeyword('pattern', name, `the pattern '${name.slice(0, 100)}'`, this.#budget))
          this.#add({ ...found, path: itemPath })
      if (kind !== 'dependencies' || !Array.isArray(item)) this.walk(item, itemPath, resource)
      else for (const found of checkKeyword('names', item, name, this.#budget)) this.#add(found, itemPath)
    }
  }
}

const nameOf = (path: Path) => (path.length === 0 ? 'it' : String(path.at(-1)))

export const isSchemaObject = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
