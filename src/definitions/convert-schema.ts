import { isObject } from '../base/same-json.ts'
import type { JsonSchema } from '../contract/input-schema.ts'
import { type CompileState, compileLimits, type Path } from './compile-state.ts'
import { silentKeywords } from './dialects.ts'
import { pickTexts } from './json-value.ts'
import { flagKeywords, isVacuous, listKeywords, mapKeywords, schemaKeywords } from './keyword-kinds.ts'
import { anyValue, convertOpenApi, openAny } from './open-api.ts'
import { resolveNode } from './resolve-node.ts'
import { cannotOverlap } from './schema-overlap.ts'

/** Writes a stored schema, part by part, in the words that a provider takes. */
export class SchemaConverter {
  readonly state: CompileState
  readonly #names = new Map<object, string>()
  readonly #waiting: JsonSchema[] = []

  constructor(state: CompileState) {
    this.state = state
  }

  /** One schema and all inside it; `at` says where in the parent it is. */
  convert(schema: unknown, path: Path, parent: object, at = this.state.document.pointerOf(parent)): JsonSchema {
    const { state } = this
    if (!isObject(schema)) return this.#convertFlag(schema, at)
    state.document.derive(schema, parent)
    if (path.depth > compileLimits.depth) return this.#cut(schema, 'It lies deeper than schemas are followed.')
    if (!state.spend(sizeOf(schema))) return this.#cut(schema, 'The whole would become too large to send.')
    const { inlinesRefs: refs, mergesAllOf: allOf } = state.dialect
    const resolved = resolveNode(state, schema, path, { refs, allOf })
    const node = this.#rewrite(resolved.node)
    const inside = { ...resolved.path, depth: path.depth + 1 }
    return state.dialect.isOpenApi ? convertOpenApi(this, node, inside) : this.emit(node, inside)
  }

  /** The keywords of a schema that the provider has, with what is inside them converted. */
  emit(node: JsonSchema, path: Path): JsonSchema {
    if (this.state.document.lookUp(node.$ref) === false) return this.#emitNothing(node)
    const entries: [string, unknown][] = []
    const widened = new Set<string>()
    for (const [key, value] of Object.entries(node)) {
      if (silentKeywords.has(key) || value === undefined) continue
      const before = this.state.timesLost
      if (!this.state.dialect.keywords.has(key)) this.#drop(node, key, value)
      else entries.push(...this.#emitKeyword(node, key, value, path))
      if (this.state.timesLost > before) widened.add(key)
    }
    return this.#leaveOpen(node, Object.fromEntries(entries), widened)
  }

  /** Where a part that lets more through would make the whole let less through, the whole is left open. */
  #leaveOpen(node: JsonSchema, emitted: Record<string, unknown>, widened: ReadonlySet<string>): JsonSchema {
    const open = (key: string, ...keywords: readonly string[]): void => {
      if (!widened.has(key) || !keywords.some((each) => each in emitted)) return
      for (const each of keywords.filter((name) => name in emitted)) {
        this.state.lose(node, each, `A part of ${key} is lost, and what is left would refuse what it did not.`)
        delete emitted[each]
      }
    }
    open('not', 'not')
    open('if', 'if', 'then', 'else')
    open('oneOf', 'oneOf')
    open('contains', 'maxContains')
    return emitted
  }

  /** The schemas that kept references point to, by name; converting one may find another. */
  definitions(): JsonSchema {
    const entries: [string, JsonSchema][] = []
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      entries.push([this.#names.get(next) ?? '', this.convert(next, { depth: 1, entered: [] }, next)])
    }
    return Object.fromEntries(entries)
  }

  #emitKeyword(node: JsonSchema, key: string, value: unknown, path: Path): [string, unknown][] {
    const { document } = this.state
    const convert = (part: unknown, step?: string | number) =>
      this.convert(part, path, node, document.insideOf(node, key, step))
    if (key === '$ref') return this.#emitRef(node, value)
    if (schemaKeywords.has(key)) {
      return [[key, typeof value === 'boolean' && flagKeywords.has(key) && this.#takesFlags() ? value : convert(value)]]
    }
    if (listKeywords.has(key)) {
      if (Array.isArray(value) && value.length > 0) return [[key, value.map((part, at) => convert(part, at))]]
    } else if (mapKeywords.has(key)) {
      if (isObject(value)) return [[key, mapValues(value, convert)]]
    } else return [[key, structuredClone(value)]]
    this.state.lose(node, key, 'It is not written as JSON Schema has it.')
    return []
  }

  #takesFlags = () => !this.state.dialect.isOpenApi

  #emitRef(node: JsonSchema, reference: unknown): [string, unknown][] {
    const target = this.state.document.lookUp(reference)
    if (target === true) return []
    if (isObject(target)) return [['$ref', `#/$defs/${this.#nameOf(target)}`]]
    this.state.lose(node, '$ref', 'It points to no schema within the document, so any value is let through.')
    return []
  }

  #nameOf(target: JsonSchema): string {
    const known = this.#names.get(target)
    if (known !== undefined) return known
    const last = this.state.document.pointerOf(target).split('/').at(-1) ?? ''
    const wanted = last.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 50) || 'root'
    const taken = new Set(this.#names.values())
    let name = wanted
    for (let count = 2; taken.has(name); count += 1) name = `${wanted}_${count}`
    this.#names.set(target, name)
    this.#waiting.push(target)
    return name
  }

  #rewrite(node: JsonSchema): JsonSchema {
    const { state } = this
    if (!state.dialect.replacesOneOf || !Array.isArray(node.oneOf) || 'anyOf' in node) return node
    const { oneOf, ...rest } = node
    const exact = cannotOverlap(node.oneOf.map((part) => (isObject(part) ? this.#look(part) : part)))
    if (!exact) state.lose(node, 'oneOf', `${state.dialect.label} has anyOf only: more than one may match.`)
    return state.document.derive({ ...rest, anyOf: oneOf }, node)
  }

  #look(part: JsonSchema): JsonSchema {
    const target = Object.keys(part).length === 1 ? this.state.document.lookUp(part.$ref) : undefined
    return isObject(target) ? target : part
  }

  /** A reference to what nothing matches; what else is said does not matter then. */
  #emitNothing(node: JsonSchema): JsonSchema {
    this.state.loseAllBut(node, ['$ref', 'description'], 'Nothing matches what the $ref beside it points to.')
    return { ...this.#convertFlag(false, ''), ...pickTexts(node, 'description') }
  }

  #convertFlag(schema: unknown, at: string): JsonSchema {
    const { dialect } = this.state
    if (schema === false && dialect.keywords.has('not')) return { not: {} }
    if (schema === false) {
      this.state.loseAt(at, 'false', `${dialect.label} cannot say that nothing matches.`)
      return anyValue()
    }
    if (schema !== true) this.state.loseAt(at, 'schema', 'What stands where a schema should be is none.')
    return dialect.isOpenApi ? openAny(this.state, at) : {}
  }

  #cut(schema: JsonSchema, why: string): JsonSchema {
    const at = this.state.document.pointerOf(schema)
    this.state.loseAt(at, 'schema', `${why} Any value is let through.`)
    return this.state.dialect.isOpenApi ? openAny(this.state, at) : {}
  }

  /** Leaves a keyword out; one that lets everything through says nothing. */
  #drop(node: JsonSchema, key: string, value: unknown): void {
    if (!isVacuous(key, value)) this.state.lose(node, key, `${this.state.dialect.label} does not have this keyword.`)
  }
}

const mapValues = (value: JsonSchema, convert: (part: unknown, key: string) => JsonSchema) =>
  Object.fromEntries(Object.entries(value).map(([key, part]) => [key, convert(part, key)]))

const charactersOfPart = 40

/** The characters that a schema itself takes, with little more than the names of what is inside it. */
function sizeOf(node: JsonSchema): number {
  let size = 0
  for (const [key, value] of Object.entries(node)) {
    if (silentKeywords.has(key)) continue
    if (schemaKeywords.has(key) || listKeywords.has(key) || mapKeywords.has(key)) size += sizeOfParts(value)
    else size += JSON.stringify(value)?.length ?? 0
  }
  return size
}

function sizeOfParts(value: unknown): number {
  if (Array.isArray(value)) return value.length * charactersOfPart
  const names = isObject(value) ? Object.keys(value) : []
  return names.reduce((size, name) => size + name.length + charactersOfPart, 0)
}
