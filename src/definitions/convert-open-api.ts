import { isObject, listOf, omitKeys, textsOf } from '../base/json-values.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { isOfType, typeOfValue } from '../json-schema/value-types.ts'
import { cutText } from '../rules/cut-text.ts'
import type { CompileState, Path } from './compile-state.ts'
import type { SchemaConverter } from './convert-schema.ts'
import { keywordsOfType } from './dialects.ts'
import { mergeNodes, resolveNode } from './resolve-node.ts'

const inline = { refs: true, allOf: true }

/** A resolved schema in OpenAPI 3.0: one type and optionally `nullable`, or `anyOf` alone. */
export function convertOpenApi(converter: SchemaConverter, raw: JsonSchema, path: Path): JsonSchema {
  const { state } = converter
  const node = withoutConst(state, state.parts.derive(withoutNullable(state, raw), raw))
  if (Array.isArray(node.anyOf) && node.anyOf.length > 0) {
    const union = convertUnion(converter, node, path)
    if (union !== undefined) return union
  }
  return convertTyped(converter, state.parts.derive(omitKeys(node, 'anyOf'), node), path)
}

/** The nearest schema for any value: arrays can only contain strings. */
export function openApiAny(state: CompileState, at: string, texts: JsonSchema = {}): JsonSchema {
  state.loseAt(at, 'any type', `${state.dialect.label} requires a type; arrays can only contain strings.`)
  return anyValue(texts)
}

/** A schema with every type. */
export function anyValue(texts: JsonSchema = {}): JsonSchema {
  const list = { type: 'array', items: { type: 'string' } }
  const types = [{ type: 'string', ...texts }, { type: 'number' }, { type: 'boolean' }, { type: 'object' }, list]
  return { anyOf: types.map((type) => ({ ...type, nullable: true })) }
}

/** The entries of the given keys whose values are strings. */
export function pickTextKeys(value: JsonSchema, ...keys: readonly string[]): JsonSchema {
  return Object.fromEntries(keys.filter((key) => typeof value[key] === 'string').map((key) => [key, value[key]]))
}

/** In a stored schema `nullable` without a type has no meaning. */
function withoutNullable(state: CompileState, node: JsonSchema): JsonSchema {
  if (!('nullable' in node)) return node
  state.lose(node, 'nullable', 'JSON Schema does not have this keyword.')
  return omitKeys(node, 'nullable')
}

function withoutConst(state: CompileState, node: JsonSchema): JsonSchema {
  if (!('const' in node)) return node
  const { parts } = state
  const rest = parts.derive(omitKeys(node, 'const'), node)
  const listed = parts.deriveKeyword({ enum: [node.const] }, node, 'const')
  const merged = mergeNodes(state, node, [rest, listed])
  if (merged === undefined) state.lose(node, 'const', 'It contradicts the other keywords, so nothing matches.')
  return merged ?? rest
}

/** Merges the keywords beside `anyOf` into each of its parts; undefined if that is not exact. */
function convertUnion(converter: SchemaConverter, node: JsonSchema, path: Path): JsonSchema | undefined {
  const { state } = converter
  const beside = state.parts.derive(omitKeys(node, 'anyOf'), node)
  const parts = listOf(node.anyOf).map((part) => {
    const resolved = resolveNode(state, isObject(part) ? part : {}, path, inline)
    const merged = part === false ? undefined : mergeNodes(state, isObject(part) ? part : node, [beside, resolved.node])
    return merged && { node: merged, path: resolved.path, own: resolved.node }
  })
  const found = parts.filter((part) => part !== undefined)
  if (found.length < parts.length) {
    state.lose(
      node,
      'anyOf',
      `The keywords beside it could not be merged into its parts, as ${state.dialect.label} requires.`,
    )
    return undefined
  }
  const others = found.filter((part) => !isNull(part.node))
  const why = `${state.dialect.label} supports only the keyword nullable for null.`
  for (const { own } of found.filter((part) => isNull(part.node))) state.loseAllBut(own, nullWords, why)
  if (others.length === 0) {
    state.lose(node, 'anyOf', `${state.dialect.label} cannot express a type that is only null.`)
    return undefined
  }
  const converted = others.map((part) => converter.convert(part.node, part.path, part.node))
  return toUnion(converted, others.length < found.length)
}

const nullWords = ['type', 'enum', 'const', '$ref', 'allOf']

function isNull(node: JsonSchema): boolean {
  if (node.type !== undefined && ![node.type].flat().includes('null')) return false
  if ('const' in node && node.const !== null) return false
  if (Array.isArray(node.enum)) return node.enum.every((value) => value === null)
  return node.const === null || (node.type !== undefined && [node.type].flat().every((type) => type === 'null'))
}

function toUnion(parts: readonly JsonSchema[], nullable: boolean): JsonSchema {
  const flat = parts.flatMap((part) => (Array.isArray(part.anyOf) ? (part.anyOf as JsonSchema[]) : [part]))
  const marked = nullable ? flat.map((part) => ({ ...part, nullable: true })) : flat
  return marked.length === 1 && marked[0] !== undefined ? marked[0] : { anyOf: marked }
}

function convertTyped(converter: SchemaConverter, node: JsonSchema, path: Path): JsonSchema {
  const { state } = converter
  const types = typesOf(state, node)
  if (types.length === 0) {
    state.loseAllBut(node, texts, `${state.dialect.label} requires a type for it.`)
    return openApiAny(state, state.parts.pointerOf(node), pickTextKeys(node, ...texts))
  }
  const others = types.filter((type) => type !== 'null')
  const nullable = types.includes('null') && (!Array.isArray(node.enum) || node.enum.includes(null))
  if (others.length === 0) {
    state.loseAllBut(node, texts, `${state.dialect.label} cannot express a type that is only null.`)
    return { ...pickTextKeys(node, ...texts), type: 'string', nullable: true }
  }
  loseForeign(state, node, others)
  const parts = others.map((type) => converter.emit(state.parts.derive(narrowToType(state, node, type), node), path))
  return toUnion(parts, nullable)
}

const texts = ['title', 'description']

/** Reports keywords that do not apply to any of the types. */
function loseForeign(state: CompileState, node: JsonSchema, types: readonly string[]): void {
  const own = types.flatMap((type) => keywordsOfType[type] ?? [])
  const foreign = new Set(
    Object.values(keywordsOfType)
      .flat()
      .filter((key) => !own.includes(key)),
  )
  for (const key of Object.keys(node).filter((each) => foreign.has(each))) {
    state.lose(node, key, `${state.dialect.label} has one type per schema, and this does not apply to that type.`)
  }
  if ('format' in node && !types.some((type) => takesFormat(type, node.format))) {
    state.lose(node, 'format', `${state.dialect.label} does not support this format.`)
  }
}

/** The types of a schema: the declared ones, those of its enum, or those its keywords apply to. */
function typesOf(state: CompileState, node: JsonSchema): string[] {
  const named = [node.type]
    .flat()
    .filter((type) => typeof type === 'string' && (Object.hasOwn(keywordsOfType, type) || type === 'null'))
  if (named.length > 0) return withValuesOf(node, [...new Set(named as string[])])
  if (Array.isArray(node.enum) && node.enum.length > 0) return [...new Set(node.enum.map(typeOfValue))]
  const about = Object.keys(keywordsOfType).filter((type) => keywordsOfType[type]?.some((key) => key in node))
  const types = about.includes('number') ? about.filter((type) => type !== 'integer') : about
  if (types.length > 0) {
    const why = `${state.dialect.label} requires a type; it is derived from the keywords, and values of other types are not allowed.`
    state.loseAt(state.parts.pointerOf(node), 'any other type', why)
  }
  return types
}

/** The types that occur in the enum; all of them if none does. */
function withValuesOf(node: JsonSchema, types: string[]): string[] {
  const listed = types.filter((type) => listOf(node.enum).some((value) => isOfType(value, type)))
  return listed.length > 0 ? listed : types
}

const formats: Record<string, readonly string[]> = {
  string: ['date-time', 'enum'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
}
const maxValuesLength = 300

/** A schema reduced to one of its types, with the keywords that apply to that type. */
function narrowToType(state: CompileState, node: JsonSchema, type: string): JsonSchema {
  const own = keywordsOfType[type] ?? []
  const foreign = Object.values(keywordsOfType)
    .flat()
    .filter((key) => !own.includes(key))
  const steps = [withValues, withFormat, ...(stepsOfType[type] ?? [])]
  const narrowed = state.parts.derive({ ...omitKeys(node, ...foreign), type }, node)
  return steps.reduce((whole, step) => state.parts.derive(step(state, whole, type), node), narrowed)
}

type Step = (state: CompileState, node: JsonSchema, type: string) => JsonSchema

const withFormat: Step = (_, node, type) =>
  'format' in node && !takesFormat(type, node.format) ? omitKeys(node, 'format') : node

const stepsOfType: Record<string, readonly Step[]> = {
  number: [withBounds],
  integer: [withBounds],
  array: [withItems],
  object: [withRequired],
}

/** Only strings can be in `enum`; other values are listed in the description. */
function withValues(state: CompileState, node: JsonSchema, type: string): JsonSchema {
  if (!('enum' in node)) return node
  const values = listOf(node.enum).filter((value) => isOfType(value, type))
  const asTexts = values.filter((value) => typeof value === 'string' && value !== '')
  if (values.length > 0 && asTexts.length === values.length) return { ...node, enum: values }
  state.lose(
    node,
    'enum',
    `${state.dialect.label} allows only non-empty strings in enum; the description lists the values.`,
  )
  const named = `One of: ${cutText(values.map((value) => JSON.stringify(value)).join(', '), maxValuesLength)}`
  const description = typeof node.description === 'string' ? `${node.description}\n${named}` : named
  return { ...omitKeys(node, 'enum'), ...(values.length > 0 ? { description } : {}) }
}

/** Whether a format is supported for a type. */
const takesFormat = (type: string, format: unknown): boolean => formats[type]?.includes(String(format)) === true

/** An exclusive bound becomes the next integer for integers, and an inclusive bound, which is slightly too wide, for others. */
function withBounds(state: CompileState, node: JsonSchema, type: string): JsonSchema {
  let bounded = node
  for (const [key, plain, step] of [
    ['exclusiveMinimum', 'minimum', 1],
    ['exclusiveMaximum', 'maximum', -1],
  ] as const) {
    const value = node[key]
    if (typeof value !== 'number') continue
    const whole = type === 'integer'
    const nearest = step > 0 ? Math.floor(value) + 1 : Math.ceil(value) - 1
    if (!whole)
      state.lose(node, key, `${state.dialect.label} does not support this keyword; the bound itself is accepted.`)
    const bound = whole ? nearest : value
    const inclusive = node[plain]
    const tightest =
      typeof inclusive !== 'number' ? bound : step > 0 ? Math.max(inclusive, bound) : Math.min(inclusive, bound)
    bounded = { ...omitKeys(bounded, key), [plain]: tightest }
  }
  return bounded
}

/** An array has one schema for all items. */
function withItems(state: CompileState, node: JsonSchema): JsonSchema {
  if (!Array.isArray(node.prefixItems)) return 'items' in node ? node : { ...node, items: true }
  state.lose(node, 'prefixItems', `${state.dialect.label} supports one schema for all items: their positions are lost.`)
  if (node.items !== undefined && node.items !== true) {
    state.lose(node, 'items', `${state.dialect.label} cannot constrain the items after the first ones.`)
  }
  const rest = node.items === undefined || node.items === false ? [] : [node.items]
  const items = state.parts.derive({ anyOf: [...node.prefixItems, ...rest] }, node)
  return { ...omitKeys(node, 'prefixItems'), items }
}

/** Required names must be properties. */
function withRequired(state: CompileState, node: JsonSchema): JsonSchema {
  if (!('required' in node)) return node
  const properties = isObject(node.properties) ? node.properties : {}
  const required = textsOf(node.required).filter((name) => Object.hasOwn(properties, name))
  const gone = listOf(node.required).filter((name) => !required.includes(name as string))
  if (gone.length > 0)
    state.loseNames(node, 'required', gone, `${state.dialect.label} can require only declared properties.`)
  return required.length > 0 ? { ...node, required } : omitKeys(node, 'required')
}
