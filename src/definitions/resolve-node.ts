import { isObject, listOf, omitKeys, sameJson } from '../base/json-values.ts'
import { toPointer } from '../base/problem.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { type CompileState, compileLimits, type Path } from './compile-state.ts'
import { isVacuous } from './dialects.ts'

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
  const beside = parts.derive(omitKeys(node, '$ref'), node)
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
const movedTogether: readonly (readonly string[])[] = [
  ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'anyOf', 'oneOf', 'not'],
  ['items', 'prefixItems', 'unevaluatedItems', 'contains', 'minContains', 'maxContains'],
  ['if', 'then', 'else'],
]

/** The target of a ref, merged with as many of the keywords beside it as possible. */
function joinByKeyword(state: CompileState, node: JsonSchema, outer: Resolved, inside: Resolved): Resolved {
  const keys = Object.keys(outer.node)
  const alone = keys.filter((key) => !movedTogether.some((group) => group.includes(key))).map((key) => [key])
  const why = `${state.dialect.label} does not support references, and this could not be merged into the target.`
  let whole = inside
  for (const group of [...alone, ...movedTogether]) {
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
  const rest = state.parts.derive(omitKeys(node, 'allOf'), node)
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

/** Called for each subschema that was merged from two. */
type Note = (merged: JsonSchema, one: JsonSchema, other: JsonSchema) => void
type Merge = (one: unknown, other: unknown, note: Note) => unknown

/** One schema that accepts exactly the values that both accept, or undefined if there is no simple one. */
function mergeSchemas(one: JsonSchema, other: JsonSchema, note: Note = () => {}): JsonSchema | undefined {
  if (exclusiveGroups.some((group) => !mayJoin(group, one, other)) || !mayJoinProperties(one, other)) return undefined
  if ('nullable' in one || 'nullable' in other) return undefined
  const entries: [string, unknown][] = []
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const merged = mergeKeyword(key, one, other, note)
    if (merged === undefined) return undefined
    entries.push([key, merged])
  }
  return Object.fromEntries(entries)
}

function mergeKeyword(key: string, one: JsonSchema, other: JsonSchema, note: Note): unknown {
  if (!Object.hasOwn(one, key)) return other[key]
  if (!Object.hasOwn(other, key) || sameJson(one[key], other[key])) return one[key]
  return Object.hasOwn(rules, key) ? rules[key]?.(one[key], other[key], note) : undefined
}

const first: Merge = (one) => one
const largest: Merge = (one, other) => numeric(one, other, Math.max)
const smallest: Merge = (one, other) => numeric(one, other, Math.min)

function numeric(one: unknown, other: unknown, pick: (...values: number[]) => number): number | undefined {
  return typeof one === 'number' && typeof other === 'number' ? pick(one, other) : undefined
}

const rules: Record<string, Merge> = {
  title: first,
  description: (one, other) => `${one}\n${other}`,
  default: first,
  examples: first,
  $comment: first,
  type: mergeTypes,
  enum: (one, other) => nonEmpty(listOf(one).filter((value) => listOf(other).some((item) => sameJson(item, value)))),
  required: (one, other) => [...new Set([...listOf(one), ...listOf(other)])],
  uniqueItems: (one, other) => one === true || other === true,
  properties: mergeProperties,
  items: mergeParts,
  minimum: largest,
  exclusiveMinimum: largest,
  minLength: largest,
  minItems: largest,
  minProperties: largest,
  maximum: smallest,
  exclusiveMaximum: smallest,
  maxLength: smallest,
  maxItems: smallest,
  maxProperties: smallest,
}

const nonEmpty = (list: readonly unknown[]) => (list.length > 0 ? list : undefined)

function mergeTypes(one: unknown, other: unknown): unknown {
  const [left, right] = [[one].flat(), [other].flat()]
  const accepts = (types: unknown[], type: unknown) =>
    types.includes(type) || (type === 'integer' && types.includes('number'))
  const both = [
    ...new Set([...left.filter((type) => accepts(right, type)), ...right.filter((type) => accepts(left, type))]),
  ].filter((type, _, all) => type !== 'integer' || !all.includes('number'))
  return both.length > 1 ? both : both[0]
}

function mergeParts(one: unknown, other: unknown, note: Note): unknown {
  if (one === true) return other
  if (other === true) return one
  if (!isObject(one) || !isObject(other)) return undefined
  if ('$ref' in one || '$ref' in other) return undefined
  const merged = mergeSchemas(one, other, note)
  if (merged !== undefined) note(merged, one, other)
  return merged
}

function mergeProperties(one: unknown, other: unknown, note: Note): unknown {
  if (!isObject(one) || !isObject(other)) return undefined
  const entries = [...new Set([...Object.keys(one), ...Object.keys(other)])].map((key) => {
    if (!Object.hasOwn(one, key)) return [key, other[key]] as const
    if (!Object.hasOwn(other, key) || sameJson(one[key], other[key])) return [key, one[key]] as const
    return [key, mergeParts(one[key], other[key], note)] as const
  })
  return entries.some(([, part]) => part === undefined) ? undefined : Object.fromEntries(entries)
}

// Keywords that depend on each other: one side may have them, not both.
const exclusiveGroups: readonly (readonly string[])[] = [
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
  ['prefixItems', 'unevaluatedItems'],
]

function mayJoin(group: readonly string[], one: JsonSchema, other: JsonSchema): boolean {
  const has = (schema: JsonSchema) => group.some((key) => Object.hasOwn(schema, key))
  const lists = group.includes('prefixItems')
  if (lists && has(one) && 'items' in other) return false
  if (lists && has(other) && 'items' in one) return false
  return !(has(one) && has(other)) || group.every((key) => sameJson(one[key], other[key]))
}

/** Whether the rules for other properties on one side do not affect the properties of the other side. */
function mayJoinProperties(one: JsonSchema, other: JsonSchema): boolean {
  if ('unevaluatedProperties' in one && evaluates(other)) return false
  if ('unevaluatedProperties' in other && evaluates(one)) return false
  return leavesAlone(one, other) && leavesAlone(other, one)
}

// Keywords that affect unevaluatedProperties.
const evaluating = [
  ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'dependentSchemas'],
  ...['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', '$ref', '$dynamicRef'],
]
const evaluates = (schema: JsonSchema) => evaluating.some((key) => key in schema)

function leavesAlone(one: JsonSchema, other: JsonSchema): boolean {
  if (!('additionalProperties' in one) || one.additionalProperties === true) return true
  const declared = isObject(one.properties) ? one.properties : {}
  const named = Object.keys(isObject(other.properties) ? other.properties : {})
  return !('patternProperties' in other) && named.every((key) => Object.hasOwn(declared, key))
}
