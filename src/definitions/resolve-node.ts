import { isObject, listOf, omit, sameJson } from '../base/json-values.ts'
import { toPointer } from '../base/problem.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { type CompileState, compileLimits, type Path } from './compile-state.ts'
import { isVacuous } from './dialects.ts'
import { mergeSchemas } from './merge-schemas.ts'

/** A schema without own refs and `allOf`, and the path for its subschemas. */
export interface Resolved {
  readonly node: JsonSchema
  readonly path: Path
}

export interface ResolveKinds {
  readonly refs: boolean
  readonly allOf: boolean
}

/** Replaces the own refs of a schema by their targets, and merges its `allOf`, as far as that is exact. */
export function resolveNode(state: CompileState, node: JsonSchema, path: Path, kinds: ResolveKinds): Resolved {
  loseIgnored(state, node)
  // A target counts in its own place too, so that a recursive schema is expanded as often, however it is written.
  const isTarget = kinds.refs && state.document.find(node)?.isTarget === true
  const inside = isTarget ? { ...path, entered: [...path.entered, node] } : path
  if ('$ref' in node && kinds.refs) return followRef(state, node, inside, kinds)
  if (Array.isArray(node.allOf) && kinds.allOf) return mergeAllOf(state, node, inside, kinds)
  return { node, path: inside }
}

/** Reports the keywords that have no effect in the draft of the schema. */
function loseIgnored(state: CompileState, node: JsonSchema): void {
  const { stored = node, ignored = [] } = state.document.find(node) ?? {}
  for (const word of ignored.filter((key) => !isVacuous(key, stored[key]))) {
    const pointer = state.parts.pointerOf(node) + toPointer([word])
    state.loseAt(pointer, word, 'This draft of JSON Schema ignores this keyword here.')
  }
}

function followRef(state: CompileState, node: JsonSchema, path: Path, kinds: ResolveKinds): Resolved {
  const { document, parts } = state
  const target = document.target(node.$ref)
  const beside = parts.derive(omit(node, '$ref'), node)
  const ignoreRef = (lost: string, why: string): Resolved => {
    state.loseAt(parts.insideOf(node, '$ref'), lost, why)
    return resolveNode(state, beside, path, kinds)
  }
  if (target === undefined)
    return ignoreRef('$ref', 'Its target does not exist in the schema, so any value is accepted.')
  if (typeof target === 'boolean') {
    return target ? resolveNode(state, beside, path, kinds) : ignoreRef('$ref', 'Its target matches nothing.')
  }
  if (parts.pointerOf(target) === parts.pointerOf(node)) return ignoreRef('$ref', 'It refers to itself.')
  if (path.entered.filter((entered) => entered === target).length >= compileLimits.repeats) {
    return ignoreRef(
      'recursive $ref',
      `${state.dialect.label} does not support references; the recursive schema is expanded to a limited depth.`,
    )
  }
  if (!state.step()) return ignoreRef('$ref', 'The definition would be too large to send. Any value is accepted.')
  const inside = resolveNode(state, target, path, kinds)
  const outer = resolveNode(state, beside, inside.path, kinds)
  return join(state, node, outer, inside) ?? joinByKeyword(state, node, outer, inside)
}

// These depend on each other, so they are moved together or not at all.
const groups: readonly (readonly string[])[] = [
  ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'anyOf', 'oneOf', 'not'],
  ['items', 'prefixItems', 'unevaluatedItems', 'contains', 'minContains', 'maxContains'],
  ['if', 'then', 'else'],
]

/** The target of a ref, merged with as many of the keywords beside it as possible. */
function joinByKeyword(state: CompileState, node: JsonSchema, outer: Resolved, inside: Resolved): Resolved {
  const keys = Object.keys(outer.node)
  const alone = keys.filter((key) => !groups.some((group) => group.includes(key))).map((key) => [key])
  const why = `${state.dialect.label} does not support references, and this could not be merged into the target.`
  let whole = inside
  for (const group of [...alone, ...groups]) {
    const entries = keys.filter((key) => group.includes(key)).map((key) => [key, outer.node[key]] as const)
    if (entries.length === 0) continue
    const part = state.parts.derive(Object.fromEntries(entries), outer.node)
    const both = join(state, node, { ...outer, node: part }, whole)
    if (both === undefined) state.loseAllBut(part, [], why)
    whole = both ?? whole
  }
  return whole
}

function mergeAllOf(state: CompileState, node: JsonSchema, path: Path, kinds: ResolveKinds): Resolved {
  const rest = state.parts.derive(omit(node, 'allOf'), node)
  let whole: Resolved = resolveNode(state, rest, path, kinds)
  for (const [at, part] of listOf(node.allOf).entries()) {
    if (part === true) continue
    const resolved = isObject(part) && state.step() ? resolveNode(state, part, whole.path, kinds) : undefined
    const both = resolved && join(state, node, whole, resolved)
    if (both === undefined) {
      const why = `${state.dialect.label} does not support allOf, and this part could not be merged with the others.`
      state.loseAt(state.parts.insideOf(node, 'allOf', at), 'part of allOf', why)
    }
    whole = both ?? whole
  }
  return whole
}

/** Merges two schemas, if that is exact; titles and defaults of the first take precedence. */
export function mergeNodes(
  state: CompileState,
  origin: object,
  [one, other]: readonly [JsonSchema, JsonSchema],
): JsonSchema | undefined {
  const inner: [JsonSchema, JsonSchema, JsonSchema][] = []
  const merged = mergeSchemas(one, other, (...parts) => inner.push(parts))
  if (merged === undefined) return undefined
  for (const [part, left, right] of inner) {
    state.parts.deriveFromBoth(part, left, [left, right])
    loseOverridden(state, left, right)
  }
  loseOverridden(state, one, other)
  return state.parts.deriveFromBoth(merged, origin, [one, other])
}

function loseOverridden(state: CompileState, one: JsonSchema, other: JsonSchema): void {
  for (const key of ['title', 'default', 'examples'].filter((name) => name in one && name in other)) {
    if (!sameJson(one[key], other[key]))
      state.lose(other, key, 'Two schemas that both apply have one; the outer one is used.')
  }
}

function join(state: CompileState, origin: JsonSchema, one: Resolved, other: Resolved): Resolved | undefined {
  const path = other.path.entered.length > one.path.entered.length ? other.path : one.path
  const merged = mergeNodes(state, origin, [one.node, other.node])
  return merged && { node: merged, path }
}
