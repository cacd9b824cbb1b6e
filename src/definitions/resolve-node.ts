import { isObject } from '../base/same-json.ts'
import type { JsonSchema } from '../contract/input-schema.ts'
import { type CompileState, compileLimits, type Path } from './compile-state.ts'
import { silentKeywords } from './dialects.ts'
import { isSame, listOf, omit } from './json-value.ts'
import { mergeSchemas } from './merge-schemas.ts'
import { modernizeNode } from './modernize-node.ts'

/** A schema without references and `allOf` of its own, and the path of what is inside it. */
export interface Resolved {
  readonly node: JsonSchema
  readonly path: Path
}

/** Which of the two are to be resolved. */
export interface ResolveKinds {
  readonly refs: boolean
  readonly allOf: boolean
}

const annotations = ['title', 'description', 'default', 'examples']

/** Replaces a schema's own references by what they point to, and merges its `allOf`, as far as that is exact. */
export function resolveNode(state: CompileState, raw: JsonSchema, path: Path, kinds: ResolveKinds): Resolved {
  const node = withoutIgnored(state, state.document.derive(modernizeNode(raw), raw))
  if ('$ref' in node && kinds.refs) return followRef(state, node, path, kinds)
  if (Array.isArray(node.allOf) && kinds.allOf) return mergeAllOf(state, node, path, kinds)
  return { node, path }
}

/** Leaves out what older drafts do not read beside a reference, or it would count where schemas are read as 2020-12. */
function withoutIgnored(state: CompileState, node: JsonSchema): JsonSchema {
  if (!state.document.ignoresRefSiblings || !('$ref' in node)) return node
  state.loseAllBut(node, ['$ref', ...annotations], 'This draft of JSON Schema reads nothing beside a $ref.')
  const kept = Object.entries(node).filter(
    ([key]) => key === '$ref' || annotations.includes(key) || silentKeywords.has(key),
  )
  return state.document.derive(Object.fromEntries(kept), node)
}

function followRef(state: CompileState, node: JsonSchema, path: Path, kinds: ResolveKinds): Resolved {
  const { document } = state
  const target = document.lookUp(node.$ref)
  const beside = document.derive(omit(node, '$ref'), node)
  const stay = (lost: string, why: string): Resolved => {
    state.loseAt(document.insideOf(node, '$ref'), lost, why)
    return resolveNode(state, beside, path, kinds)
  }
  if (target === undefined) return stay('$ref', 'It points to nothing within the schema, so any value is let through.')
  if (typeof target === 'boolean') {
    return target
      ? resolveNode(state, beside, path, kinds)
      : stay('$ref', 'It points to a schema that nothing matches.')
  }
  if (document.pointerOf(target) === document.pointerOf(node)) return stay('$ref', 'It points to where it stands.')
  if (path.entered.filter((entered) => entered === target).length >= compileLimits.repeats) {
    return stay('recursive $ref', `${state.dialect.label} takes no references; the schema is written out so far only.`)
  }
  if (!state.step()) return stay('$ref', 'The whole would become too large to send. Any value is let through.')
  const inside = resolveNode(state, target, { ...path, entered: [...path.entered, target] }, kinds)
  const here = resolveNode(state, beside, inside.path, kinds)
  return join(state, node, here, inside) ?? joinByKeyword(state, node, here, inside)
}

// What these say depends on each other, so that they are moved together or not at all.
const groups: readonly (readonly string[])[] = [
  ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'anyOf', 'oneOf', 'not'],
  ['items', 'prefixItems', 'unevaluatedItems', 'contains', 'minContains', 'maxContains'],
  ['if', 'then', 'else'],
]

/** What a reference points to, with as much of what stands beside it as can be put into it. */
function joinByKeyword(state: CompileState, node: JsonSchema, here: Resolved, inside: Resolved): Resolved {
  const keys = Object.keys(here.node)
  const alone = keys.filter((key) => !groups.some((group) => group.includes(key))).map((key) => [key])
  const why = `${state.dialect.label} takes no references, and this could not be put into what the reference points to.`
  let whole = inside
  for (const group of [...alone, ...groups]) {
    const entries = keys.filter((key) => group.includes(key)).map((key) => [key, here.node[key]] as const)
    if (entries.length === 0) continue
    const part = state.document.derive(Object.fromEntries(entries), here.node)
    const both = join(state, node, { ...here, node: part }, whole)
    if (both === undefined) state.loseAllBut(part, [], why)
    whole = both ?? whole
  }
  return whole
}

function mergeAllOf(state: CompileState, node: JsonSchema, path: Path, kinds: ResolveKinds): Resolved {
  const rest = state.document.derive(omit(node, 'allOf'), node)
  let whole: Resolved = resolveNode(state, rest, path, kinds)
  for (const [at, part] of listOf(node.allOf).entries()) {
    if (part === true) continue
    const resolved = isObject(part) && state.step() ? resolveNode(state, part, whole.path, kinds) : undefined
    const both = resolved && join(state, node, whole, resolved)
    if (both === undefined) {
      const why = `${state.dialect.label} takes no allOf, and this part of it could not be put together with the others.`
      state.loseAt(state.document.insideOf(node, 'allOf', at), 'part of allOf', why)
    }
    whole = both ?? whole
  }
  return whole
}

/** One schema for both, where there is one; texts and defaults of the first win over those of the second. */
export function mergeNodes(
  state: CompileState,
  origin: object,
  [one, other]: readonly [JsonSchema, JsonSchema],
): JsonSchema | undefined {
  const inner: [JsonSchema, JsonSchema, JsonSchema][] = []
  const merged = mergeSchemas(one, other, (...parts) => inner.push(parts))
  if (merged === undefined) return undefined
  for (const [part, left, right] of inner) {
    state.document.deriveFromBoth(part, left, [left, right])
    loseBeaten(state, left, right)
  }
  loseBeaten(state, one, other)
  return state.document.deriveFromBoth(merged, origin, [one, other])
}

function loseBeaten(state: CompileState, one: JsonSchema, other: JsonSchema): void {
  for (const key of ['title', 'default', 'examples'].filter((name) => name in one && name in other)) {
    if (!isSame(one[key], other[key]))
      state.lose(other, key, 'Two schemas that apply both have one; the outer is kept.')
  }
}

/** Both as one, where that is exact. */
function join(state: CompileState, origin: JsonSchema, one: Resolved, other: Resolved): Resolved | undefined {
  const path = other.path.entered.length > one.path.entered.length ? other.path : one.path
  const merged = mergeNodes(state, origin, [one.node, other.node])
  return merged && { node: merged, path }
}
