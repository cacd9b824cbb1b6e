import { isObject, type JsonObject, textsOf } from '../../../base/json-values.ts'
import { fromPointer } from '../../../base/problem.ts'
import { checkSchema } from '../../../json-schema/index.ts'
import { schemaLimits } from '../../../json-schema/limits.ts'
import type { OpenApiDocument } from './openapi-document.ts'

/** Keywords with a schema for each key, and keywords with a list of schemas. */
const schemaMaps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
const schemaLists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const schemas = new Set(
  'items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties'.split(
    ' ',
  ),
)
/** Keywords of OpenAPI that mean nothing to a validator or a model, and defaults, which the service applies itself. */
const dropped = new Set(
  'xml externalDocs discriminator example readOnly writeOnly nullable default deprecated collectionFormat $id $schema $anchor'.split(
    ' ',
  ),
)
const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])

/** Copies schemas of a document into one schema that references nothing outside itself. */
export class SchemaCollector {
  readonly #document: OpenApiDocument
  readonly #hidden: 'readOnly' | 'writeOnly'
  readonly #names = new Map<string, string>()
  readonly #defs = new Map<string, unknown>()
  /** Referenced schemas that are still to be copied; a queue, because chains of references can be long. */
  readonly #queue: [name: string, schema: unknown][] = []
  /** References that lead nowhere. */
  readonly missing = new Set<string>()

  /** Properties with the keyword `hidden` are left out: `readOnly` ones are not part of a request. */
  constructor(document: OpenApiDocument, hidden: 'readOnly' | 'writeOnly') {
    this.#document = document
    this.#hidden = hidden
  }

  /** A copy of a schema, with its references pointing to `$defs`. */
  copy(schema: unknown): unknown {
    if (typeof schema === 'boolean') return schema
    if (!isObject(schema)) return {}
    const copied: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(schema)) {
      const part = this.#copyKeyword(key, value)
      if (part !== undefined) copied[key] = part
    }
    return this.#withoutHidden(schema, copied)
  }

  /** The definitions that the copied schemas reference; undefined if there are more than a schema can have. */
  definitions(): JsonObject | undefined {
    for (let next = this.#queue.pop(); next !== undefined; next = this.#queue.pop()) {
      if (this.#defs.size > schemaLimits.subschemas) return undefined
      this.#defs.set(next[0], this.copy(next[1]))
    }
    return this.#defs.size === 0 ? {} : { $defs: Object.fromEntries(this.#defs) }
  }

  #copyKeyword(key: string, value: unknown): unknown {
    if (dropped.has(key) || key.startsWith('x-')) return undefined
    if (key === '$ref') return typeof value === 'string' ? this.#toDefinition(value) : undefined
    if (key === 'type') return [value].flat().every((each) => types.has(String(each))) ? value : undefined
    if (schemaMaps.has(key))
      return isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.copy(each)]))
        : undefined
    if (schemaLists.has(key))
      return Array.isArray(value) && value.length > 0 ? value.map((each) => this.copy(each)) : undefined
    return schemas.has(key) && !Array.isArray(value) ? this.copy(value) : value
  }

  #toDefinition(reference: string): string | undefined {
    const known = this.#names.get(reference)
    if (known !== undefined) return `#/$defs/${known}`
    const target = this.#document.find(reference)
    if (target === undefined) {
      this.missing.add(reference)
      return undefined
    }
    const name = this.#newName(reference)
    this.#names.set(reference, name)
    this.#defs.set(name, {})
    this.#queue.push([name, target])
    return `#/$defs/${name}`
  }

  #newName(reference: string): string {
    const base = reference.replace(/^.*\//s, '').replace(/[^\w.-]+/g, '_') || 'schema'
    let name = base
    for (let count = 2; this.#defs.has(name); count++) name = `${base}_${count}`
    return name
  }

  #withoutHidden({ properties }: JsonObject, copied: Record<string, unknown>): JsonObject {
    if (!isObject(properties)) return withRequired(copied, new Set())
    const hidden = Object.keys(properties).filter(
      (name) => this.#document.object(properties[name])[this.#hidden] === true,
    )
    const kept = copied.properties as Record<string, unknown>
    for (const name of hidden) delete kept[name]
    return withRequired(copied, new Set(hidden))
  }
}

/** `required` is a list of names; older documents also write a boolean at each property. */
function withRequired({ required, ...schema }: Record<string, unknown>, hidden: ReadonlySet<string>): JsonObject {
  const names = [...new Set(textsOf(required))].filter((name) => !hidden.has(name))
  return names.length === 0 ? schema : { ...schema, required: names }
}

const maxRounds = 20

/** A schema without its invalid keywords, and a sentence for each of them; undefined if it cannot be made valid. */
export function withoutInvalid(schema: JsonObject): { schema: JsonObject; losses: readonly string[] } | undefined {
  const copy = structuredClone(schema) as Record<string, unknown>
  const losses: string[] = []
  for (let round = 0; round < maxRounds; round++) {
    const problems = checkSchema(copy, '', { object: true })
    if (problems.length === 0) return { schema: copy, losses: losses.slice(0, maxRounds) }
    const removed = problems.filter(({ pointer = '' }) => remove(copy, fromPointer(pointer)))
    if (removed.length === 0) return undefined
    losses.push(...removed.map(({ pointer = '', message }) => `${pointer} is left out: ${message}`))
  }
  return undefined
}

/** Removes the keyword at a path, or the nearest one above it; whether there was one. */
function remove(schema: Record<string, unknown>, path: readonly string[]): boolean {
  for (let length = path.length; length > 0; length--) {
    let holder: unknown = schema
    for (const part of path.slice(0, length - 1)) holder = isObject(holder) ? holder[part] : undefined
    const key = path[length - 1] ?? ''
    if (!isObject(holder) || !Object.hasOwn(holder, key)) continue
    delete (holder as Record<string, unknown>)[key]
    return true
  }
  return false
}
