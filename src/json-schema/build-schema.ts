import { isObject, type JsonObject } from '../base/json-values.ts'
import { asserting, containerOf } from './keywords.ts'
import type { SchemaDocument } from './schema-document.ts'

type Built = Record<string, unknown> | boolean

/** A schema with the keywords that are validated; each target of a ref is under `$defs` once and spends a step when it is followed. */
export interface BuiltSchema {
  readonly root: Built
  readonly defs: Readonly<Record<string, Built>>
}

/** The form of a schema without problems that is compiled. */
export function buildSchema(document: SchemaDocument): BuiltSchema {
  const builder = new Builder(document)
  const defs: Record<string, Built> = {}
  for (const [ref, target] of document.targets) {
    const built = typeof target === 'boolean' ? target : builder.buildTarget(target)
    const spendStep = `#${document.find(target)?.pointer ?? ''}`
    // Beside the other keywords it would not be evaluated if one of them fails; before them it always is.
    defs[nameOf(ref)] = typeof built === 'boolean' ? built : { allOf: [{ spendStep }, built] }
  }
  return { root: builder.build(document.root), defs }
}

const nameOf = (ref: unknown) => `r${String(ref).slice(1)}`
const toDef = (ref: unknown) => `#/$defs/${nameOf(ref)}`

class Builder {
  readonly #document: SchemaDocument
  readonly #refs: ReadonlyMap<unknown, string>

  constructor(document: SchemaDocument) {
    this.#document = document
    this.#refs = new Map([...document.targets].map(([ref, target]) => [target, ref]))
  }

  /** The schema itself, or a ref to it if it is the target of refs. */
  build(node: unknown): Built {
    if (!isObject(node)) return node !== false
    const ref = this.#refs.get(node)
    if (ref === undefined) return this.buildTarget(node)
    return this.#withDefault({ $ref: toDef(ref) }, node)
  }

  buildTarget(node: JsonObject): Built {
    const entries = Object.entries(node).flatMap(([word, value]) => {
      if (word === '$ref') return [[word, toDef(value)]]
      return asserting.has(word) ? [[word, this.#keyword(word, value)]] : []
    })
    return this.#withDefault(Object.fromEntries(entries), node)
  }

  #withDefault(built: Record<string, unknown>, node: JsonObject): Built {
    const value = '$ref' in built ? this.#document.withDefault(node)?.default : undefined
    return value === undefined ? built : { ...built, default: value }
  }

  #keyword(word: string, value: unknown): unknown {
    const container = containerOf(word)
    if (container === 'schema') return this.build(value)
    if (container === 'array') return (value as readonly unknown[]).map((part) => this.build(part))
    if (container === undefined) return value
    return Object.fromEntries(Object.entries(value as JsonObject).map(([name, part]) => [name, this.build(part)]))
  }
}
