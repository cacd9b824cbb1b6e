import { isObject } from '../base/same-json.ts'
import type { JsonSchema } from '../contract/input-schema.ts'
import type { CompileState, Path } from './compile-state.ts'
import { isSame, listOf, omit, textsOf } from './json-value.ts'
import { resolveNode } from './resolve-node.ts'

/** The argument that holds the value where a tool takes something else than an object. */
export const wrapperName = 'value'

/** The schema of the arguments, which are always an object, before it is converted. */
export interface Root {
  readonly node: JsonSchema
  readonly path: Path
  readonly isWrapped: boolean
}

const start: Path = { depth: 0, entered: [] }

/** Makes the stored schema one of an object, with nothing beside its properties that the provider refuses there. */
export function shapeRoot(state: CompileState): Root {
  const { document } = state
  const { node, path } = resolveNode(state, document.root, start, { refs: true, allOf: true })
  if (!mayBeObject(node)) return wrap(state, node)
  if (allowsOthers(node)) state.lose(node, 'type', onlyObjects)
  const typed = document.derive({ ...node, type: 'object' }, node)
  const flat = flattenUnions(state, typed)
  const left = state.dialect.notAtRoot.filter((key) => key in flat)
  for (const key of left) state.lose(flat, key, `${state.dialect.label} does not take it beside the arguments.`)
  const plain = document.derive(omit(flat, ...left), flat)
  return { node: document.derive(withKnownNames(state, plain), plain), path, isWrapped: false }
}

/** Whether a schema lets objects through, as far as its types say. */
export function mayBeObject(node: JsonSchema): boolean {
  return node.type === undefined || [node.type].flat().includes('object')
}

/** Why a schema of arguments or of results says less than it did. */
export const onlyObjects = 'Arguments and results are objects here: the other types are lost.'

/** Whether a schema names types beside that of objects. */
export const allowsOthers = (node: JsonSchema): boolean => Array.isArray(node.type) && node.type.length > 1

function wrap(state: CompileState, node: JsonSchema): Root {
  const why = `Arguments are always an object; the value is the argument ${wrapperName}.`
  state.loseAt(state.document.pointerOf(state.document.root), 'shape', why)
  const wrapped = { type: 'object', properties: { [wrapperName]: node }, required: [wrapperName] }
  return { node: state.document.derive(wrapped, state.document.root), path: start, isWrapped: true }
}

/** Alternatives of the whole become optional properties of one object. */
function flattenUnions(state: CompileState, node: JsonSchema): JsonSchema {
  let flat = node
  for (const key of ['anyOf', 'oneOf'] as const) {
    if (!state.dialect.notAtRoot.includes(key) || !Array.isArray(flat[key])) continue
    const parts = listOf(flat[key])
      .filter(isObject)
      .map((part) => resolveNode(state, part, start, { refs: true, allOf: true }).node)
    const why = `${state.dialect.label} takes no alternatives here: the arguments of all are put together, and what else each says is lost.`
    state.lose(node, key, why)
    flat = state.document.derive(joinParts(state, omit(flat, key), parts.filter(mayBeObject)), node)
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
    const known = properties.get(name)
    if (own.has(name) || (closed && known === undefined) || isSame(known, schema)) continue
    const both = state.document.derive({ anyOf: [known, schema] }, isObject(schema) ? schema : state.document.root)
    properties.set(name, known === undefined ? schema : both)
  }
  const always = parts.map((part) => textsOf(part.required))
  const required = (always[0] ?? []).filter((name) => always.every((names) => names.includes(name)))
  return {
    ...base,
    ...(properties.size > 0 ? { properties: Object.fromEntries(properties) } : {}),
    ...(required.length > 0 ? { required: [...new Set([...textsOf(base.required), ...required])] } : {}),
  }
}

/** Leaves out arguments with names that the provider would refuse the whole list for. */
function withKnownNames(state: CompileState, node: JsonSchema): JsonSchema {
  if (!isObject(node.properties)) return node
  const refused = Object.keys(node.properties).filter((name) => !state.dialect.argumentName.test(name))
  if (refused.length === 0) return node
  for (const name of refused) {
    for (const pointer of state.document.placesInside(node, 'properties', name))
      state.loseAt(pointer, 'argument', `${state.dialect.label} does not take an argument of this name.`)
  }
  const required = textsOf(node.required).filter((name) => !refused.includes(name))
  if (required.length < textsOf(node.required).length)
    state.loseNames(node, 'required', refused, `${state.dialect.label} can require only arguments that it takes.`)
  return { ...node, properties: omit(node.properties, ...refused), ...('required' in node ? { required } : {}) }
}
