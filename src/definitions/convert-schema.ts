import { isObject, listOf, textsOf } from '../base/json-values.ts'
import type { LlmFormat, Loss } from '../contract/llm.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { areDisjoint } from '../json-schema/disjoint.ts'
import { containerOfKeyword } from '../json-schema/keywords.ts'
import { CompileState, compileLimits, type Path } from './compile-state.ts'
import { anyValue, convertOpenApi, openApiAny, pickTextKeys } from './convert-open-api.ts'
import { dialects, flagKeywords, isVacuous, type ProviderDialect, silentKeywords } from './dialects.ts'
import { resolveNode } from './resolve-node.ts'
import { allowsOthers, isWithinRootLimits, mayBeObject, onlyObjects, shapeRoot } from './shape-root.ts'

/** Converts a stored schema, part by part, to the dialect of a provider. */
export class SchemaConverter {
  readonly state: CompileState
  readonly #names = new Map<object, string>()
  readonly #waiting: JsonSchema[] = []

  constructor(state: CompileState) {
    this.state = state
  }

  /** Converts one schema and its subschemas; `at` returns its pointer. */
  convert(schema: unknown, path: Path, parent: object, at = () => this.state.parts.pointerOf(parent)): JsonSchema {
    const { state } = this
    if (!isObject(schema)) return this.#convertBoolean(schema, at())
    state.parts.derive(schema, parent)
    if (path.depth > compileLimits.depth) return this.#cut(schema, 'It is nested too deeply.')
    if (!state.trySpend(sizeOf(schema))) return this.#cut(schema, 'The definition would be too large to send.')
    const { inlinesRefs: refs, mergesAllOf: allOf } = state.dialect
    const resolved = resolveNode(state, schema, path, { refs, allOf })
    const node = this.#rewrite(resolved.node)
    const inside = { ...resolved.path, depth: path.depth + 1 }
    return state.dialect.isOpenApi ? convertOpenApi(this, node, inside) : this.emit(node, inside)
  }

  /** The keywords of a schema that the provider supports, with their subschemas converted. */
  emit(node: JsonSchema, path: Path): JsonSchema {
    if (this.state.document.target(node.$ref) === false) return this.#emitNothing(node)
    const entries: [string, unknown][] = []
    const widened = new Set<string>()
    for (const [key, value] of Object.entries(node)) {
      if (silentKeywords.has(key) || value === undefined) continue
      const before = this.state.timesLost
      if (!this.state.dialect.keywords.has(key)) this.#drop(node, key, value)
      else entries.push(...this.#emitKeyword(node, key, value, path))
      if (this.state.timesLost > before) widened.add(key)
    }
    return this.#removeWidened(node, Object.fromEntries(entries), widened)
  }

  /** Removes keywords that would reject more because a subschema with a loss accepts more. */
  #removeWidened(node: JsonSchema, emitted: Record<string, unknown>, widened: ReadonlySet<string>): JsonSchema {
    const removeIfWidened = (key: string, ...keywords: readonly string[]): void => {
      if (!widened.has(key) || !keywords.some((each) => each in emitted)) return
      for (const each of keywords.filter((name) => name in emitted)) {
        this.state.lose(node, each, `A part of ${key} is lost, and the rest would reject values that were valid.`)
        delete emitted[each]
      }
    }
    removeIfWidened('not', 'not')
    removeIfWidened('if', 'if', 'then', 'else')
    removeIfWidened('oneOf', 'oneOf')
    removeIfWidened('contains', 'maxContains')
    return emitted
  }

  /** The targets of the remaining refs, by name; a converted target may add others. */
  definitions(): JsonSchema {
    const entries: [string, JsonSchema][] = []
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      entries.push([this.#names.get(next) ?? '', this.convert(next, { depth: 1, entered: [] }, next)])
    }
    return Object.fromEntries(entries)
  }

  #emitKeyword(node: JsonSchema, key: string, value: unknown, path: Path): [string, unknown][] {
    const convert = (part: unknown, step?: string | number) =>
      this.convert(part, path, node, () => this.state.parts.insideOf(node, key, step))
    if (key === '$ref') return this.#emitRef(node, value)
    const container = containerOfKeyword(key)
    if (container === 'schema') {
      return [
        [key, typeof value === 'boolean' && flagKeywords.has(key) && this.#supportsBooleans() ? value : convert(value)],
      ]
    }
    if (container === 'array') {
      if (Array.isArray(value) && value.length > 0) return [[key, value.map((part, at) => convert(part, at))]]
    } else if (container === 'map') {
      if (isObject(value)) return [[key, mapValues(value, convert)]]
    } else return [[key, structuredClone(value)]]
    this.state.lose(node, key, 'It is not valid JSON Schema.')
    return []
  }

  #supportsBooleans = () => !this.state.dialect.isOpenApi

  #emitRef(node: JsonSchema, reference: unknown): [string, unknown][] {
    const target = this.state.document.target(reference)
    if (target === true) return []
    if (isObject(target)) return [['$ref', `#/$defs/${this.#nameOf(target)}`]]
    this.state.lose(node, '$ref', 'It does not refer to a schema in the document, so any value is accepted.')
    return []
  }

  #nameOf(target: JsonSchema): string {
    const existing = this.#names.get(target)
    if (existing !== undefined) return existing
    const last = this.state.parts.pointerOf(target).split('/').at(-1) ?? ''
    const base = last.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 50) || 'root'
    const taken = new Set(this.#names.values())
    let name = base
    for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`
    this.#names.set(target, name)
    this.#waiting.push(target)
    return name
  }

  #rewrite(node: JsonSchema): JsonSchema {
    const { state } = this
    if (!state.dialect.replacesOneOf || !Array.isArray(node.oneOf) || 'anyOf' in node) return node
    const { oneOf, ...rest } = node
    const follow = (part: unknown) => this.#follow(part)
    if (!areDisjoint(node.oneOf.map(follow), follow))
      state.lose(node, 'oneOf', `${state.dialect.label} supports only anyOf: more than one alternative may match.`)
    return state.parts.derive({ ...rest, anyOf: oneOf }, node)
  }

  #follow(part: unknown): unknown {
    const target = isObject(part) && Object.keys(part).length === 1 ? this.state.document.target(part.$ref) : undefined
    return target ?? part
  }

  /** A ref to a schema that matches nothing; the other keywords have no effect. */
  #emitNothing(node: JsonSchema): JsonSchema {
    this.state.loseAllBut(node, ['$ref', 'description'], 'The target of the $ref beside it matches nothing.')
    return { ...this.#convertBoolean(false, ''), ...pickTextKeys(node, 'description') }
  }

  #convertBoolean(schema: unknown, at: string): JsonSchema {
    const { dialect } = this.state
    if (schema === false && dialect.keywords.has('not')) return { not: {} }
    if (schema === false) {
      this.state.loseAt(at, 'false', `${dialect.label} cannot express that nothing matches.`)
      return anyValue()
    }
    if (schema !== true) this.state.loseAt(at, 'schema', 'The value is not a schema.')
    return dialect.isOpenApi ? openApiAny(this.state, at) : {}
  }

  #cut(schema: JsonSchema, why: string): JsonSchema {
    const at = this.state.parts.pointerOf(schema)
    this.state.loseAt(at, 'schema', `${why} Any value is accepted.`)
    return this.state.dialect.isOpenApi ? openApiAny(this.state, at) : {}
  }

  /** Omits a keyword, with a loss unless it accepts every value. */
  #drop(node: JsonSchema, key: string, value: unknown): void {
    if (!isVacuous(key, value)) this.state.lose(node, key, `${this.state.dialect.label} does not support this keyword.`)
  }
}

const mapValues = (value: JsonSchema, convert: (part: unknown, key: string) => JsonSchema) =>
  Object.fromEntries(Object.entries(value).map(([key, part]) => [key, convert(part, key)]))

const charactersOfPart = 40

/** The characters of a schema itself, with an estimate for its subschemas. */
function sizeOf(node: JsonSchema): number {
  let size = 0
  for (const [key, value] of Object.entries(node)) {
    if (silentKeywords.has(key)) continue
    if (containerOfKeyword(key) !== undefined) size += sizeOfParts(value)
    else size += JSON.stringify(value)?.length ?? 0
  }
  return size
}

function sizeOfParts(value: unknown): number {
  if (Array.isArray(value)) return value.length * charactersOfPart
  const names = isObject(value) ? Object.keys(value) : []
  return names.reduce((size, name) => size + name.length + charactersOfPart, 0)
}

/** The schema of a tool's arguments in the dialect of a provider. */
export interface CompiledSchema {
  readonly schema: JsonSchema
  readonly losses: Loss[]
  readonly isWrapped: boolean
  /** Whether the provider can enforce it without a loss. */
  readonly isStrict: boolean
}

/** Compiles a stored input schema for a provider; a loss accepts more values than the stored schema, or its reason states that it accepts fewer. */
export function compileDefinition(stored: JsonSchema, format: LlmFormat, maxWork?: number): CompiledSchema {
  if (format === 'mcp' && mayBeObject(stored) && isWithinRootLimits(stored)) {
    const losses = allowsOthers(stored) ? [{ pointer: '/type', lost: 'type', why: onlyObjects }] : []
    return { schema: { ...structuredClone(stored), type: 'object' }, losses, isWrapped: false, isStrict: false }
  }
  if (format !== 'openai') return { ...convertWith(stored, dialects[format], maxWork), isStrict: false }
  const strict = convertWith(stored, dialects.openaiStrict, maxWork)
  if (strict.losses.length === 0 && fitsStrict(strict.schema)) return { ...strict, isStrict: true }
  return { ...convertWith(stored, dialects.openai, maxWork), isStrict: false }
}

function convertWith(
  stored: JsonSchema,
  dialect: ProviderDialect,
  maxWork: number | undefined,
): Omit<CompiledSchema, 'isStrict'> {
  const state = new CompileState(stored, dialect, maxWork)
  const root = shapeRoot(state)
  const converter = new SchemaConverter(state)
  const schema = converter.convert(root.node, root.path, state.root)
  const parts = converter.definitions()
  const whole = Object.keys(parts).length > 0 ? { ...schema, $defs: parts } : schema
  return { schema: withProperties(whole), losses: state.losses, isWrapped: root.isWrapped }
}

/** Some providers reject an object schema without `properties`. */
const withProperties = (schema: JsonSchema) => ({ ...schema, type: 'object', properties: schema.properties ?? {} })

const formats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']
const limits = { depth: 10, properties: 5000, values: 1000 }

interface Count {
  properties: number
  values: number
}

/** Whether OpenAI can enforce a schema in strict mode: all objects closed, all properties required, all types explicit. */
function fitsStrict(root: JsonSchema): boolean {
  const count = { properties: 0, values: 0 }
  const parts = Object.values(isObject(root.$defs) ? root.$defs : {})
  if (![root, ...parts].every((part) => fits(part, 1, count))) return false
  return count.properties <= limits.properties && count.values <= limits.values
}

function fits(node: unknown, depth: number, count: Count): boolean {
  if (!isObject(node) || depth > limits.depth) return false
  if ('$ref' in node) return Object.keys(node).every((key) => key === '$ref' || key === 'description')
  if ('format' in node && !formats.includes(String(node.format))) return false
  count.values += listOf(node.enum).length
  if (Array.isArray(node.anyOf)) {
    return Object.keys(node).every((key) => key === 'anyOf' || key === 'description') && node.anyOf.every(next)
  }
  const types = [node.type].flat()
  if (types.length === 0 || !types.every((type) => typeof type === 'string')) return false
  if (types.includes('array') && !next(node.items)) return false
  return !types.includes('object') || fitsObject(node, next, count)

  function next(part: unknown): boolean {
    return fits(part, depth + 1, count)
  }
}

function fitsObject(node: JsonSchema, next: (part: unknown) => boolean, count: Count): boolean {
  const properties = isObject(node.properties) ? node.properties : {}
  const [names, required] = [Object.keys(properties), textsOf(node.required)]
  count.properties += names.length
  if (node.additionalProperties !== false || new Set(required).size !== names.length) return false
  return names.every((name) => required.includes(name)) && Object.values(properties).every(next)
}
