import { isObject, listOf, omitKeys, sameJson, textsOf } from '../base/json-values.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import type { CompileState, Path } from './compile-state.ts'
import { resolveNode } from './resolve-node.ts'

/** The argument that contains the value if the input of a tool is not an object. */
export const wrapperName = 'value'

/** The schema of the arguments, which are always an object, before it is converted. */
export interface Root {
  readonly node: JsonSchema
  readonly path: Path
  readonly isWrapped: boolean
}

const start: Path = { depth: 0, entered: [] }

/** Converts the stored schema to an object schema without the root keywords that the provider rejects. */
export function shapeRoot(state: CompileState): Root {
  const { parts } = state
  const { node, path } = resolveNode(state, state.root, start, { refs: true, allOf: true })
  if (!mayBeObject(node)) return wrap(state, node)
  if (allowsOthers(node)) state.lose(node, 'type', onlyObjects)
  const typed = parts.derive({ ...node, type: 'object' }, node)
  const flat = flattenUnions(state, typed)
  const left = state.dialect.notAtRoot.filter((key) => key in flat)
  for (const key of left) state.lose(flat, key, `${state.dialect.label} does not support it in the root schema.`)
  const plain = parts.derive(omitKeys(flat, ...left), flat)
  return { node: parts.derive(withAllowedNames(state, plain), plain), path, isWrapped: false }
}

/** Whether the types of a schema include objects. */
export function mayBeObject(node: JsonSchema): boolean {
  return node.type === undefined || [node.type].flat().includes('object')
}

/** The reason for the loss of types other than object. */
export const onlyObjects = 'Arguments and results must be objects: the other types are lost.'

/** Whether a schema declares other types than object. */
export const allowsOthers = (node: JsonSchema): boolean => Array.isArray(node.type) && node.type.length > 1

function wrap(state: CompileState, node: JsonSchema): Root {
  const why = `Arguments are always an object; the value is the argument ${wrapperName}.`
  state.loseAt(state.parts.pointerOf(state.root), 'shape', why)
  const wrapped = { type: 'object', properties: { [wrapperName]: node }, required: [wrapperName] }
  return { node: state.parts.derive(wrapped, state.root), path: start, isWrapped: true }
}

/** Merges alternatives of the root into optional properties of one object. */
function flattenUnions(state: CompileState, node: JsonSchema): JsonSchema {
  let flat = node
  for (const key of ['anyOf', 'oneOf'] as const) {
    if (!state.dialect.notAtRoot.includes(key) || !Array.isArray(flat[key])) continue
    const parts = listOf(flat[key])
      .filter(isObject)
      .map((part) => resolveNode(state, part, start, { refs: true, allOf: true }).node)
    const why = `${state.dialect.label} does not support alternatives here: their arguments are merged, and their other keywords are lost.`
    state.lose(node, key, why)
    flat = state.parts.derive(joinParts(state, omitKeys(flat, key), parts.filter(mayBeObject)), node)
  }
  return flat
}

function joinParts(state: CompileState, base: JsonSchema, parts: readonly JsonSchema[]): JsonSchema {
  const properties = new Map(Object.entries(isObject(base.properties) ? base.properties : {}))
  const own = new Set(properties.keys())
  const closed = base.additionalProperties === false
  for (const [name, schema] of parts.flatMap((part) =>
    Object.entries(isObject(part.properties) ? part.properties : {}),
  )) {
    const existing = properties.get(name)
    if (own.has(name) || (closed && existing === undefined) || sameJson(existing, schema)) continue
    const both = state.parts.derive({ anyOf: [existing, schema] }, isObject(schema) ? schema : state.root)
    properties.set(name, existing === undefined ? schema : both)
  }
  const always = parts.map((part) => textsOf(part.required))
  const required = (always[0] ?? []).filter((name) => always.every((names) => names.includes(name)))
  return {
    ...base,
    ...(properties.size > 0 ? { properties: Object.fromEntries(properties) } : {}),
    ...(required.length > 0 ? { required: [...new Set([...textsOf(base.required), ...required])] } : {}),
  }
}

/** Omits arguments with names for which the provider would reject the whole list. */
function withAllowedNames(state: CompileState, node: JsonSchema): JsonSchema {
  if (!isObject(node.properties)) return node
  const rejected = Object.keys(node.properties).filter((name) => !state.dialect.argumentName.test(name))
  if (rejected.length === 0) return node
  for (const name of rejected) {
    for (const pointer of state.parts.pointersInside(node, 'properties', name))
      state.loseAt(pointer, 'argument', `${state.dialect.label} does not allow this argument name.`)
  }
  const required = textsOf(node.required).filter((name) => !rejected.includes(name))
  if (required.length < textsOf(node.required).length)
    state.loseNames(node, 'required', rejected, `${state.dialect.label} can require only arguments with allowed names.`)
  return { ...node, properties: omitKeys(node.properties, ...rejected), ...('required' in node ? { required } : {}) }
}

const sendLimits = { depth: 200, parts: 50_000, characters: 1_000_000 }

/** Whether a schema is small and flat enough to be sent unchanged. */
export function isWithinRootLimits(schema: JsonSchema): boolean {
  const waiting: [object, number][] = [[schema, 1]]
  let parts = 0
  let characters = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [part, depth] = next
    for (const [key, value] of Object.entries(part)) {
      parts += 1
      characters += key.length + (typeof value === 'string' ? value.length : 0)
      if (typeof value === 'object' && value !== null) waiting.push([value, depth + 1])
    }
    if (depth > sendLimits.depth || parts > sendLimits.parts || characters > sendLimits.characters) return false
  }
  return true
}
