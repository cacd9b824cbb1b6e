import type { JsonSchema } from '../../contract/input-schema.ts'
import { type CompileState, compileLimits, type Path } from './compile-state.ts'
import { isObject, isSame, listOf, omit } from './json-value.ts'
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
  const node = state.document.derive(modernizeNode(raw), raw)
  if ('$ref' in node && kinds.refs) return followRef(state, node, path, kinds)
  if (Array.isArray(node.allOf) && kinds.allOf) return mergeAllOf(state, node, path, kinds)
  return { node, path }
}

function followRef(state: CompileState, node: JsonSchema, path: Path, kinds: ResolveKinds): Resolved {
  const { document } = state
  const target = document.lookUp(node.$ref)
  const beside = document.derive(besideRef(node, document.ignoresRefSiblings), node)
  const stay = (lost: string, why: string): Resolved => {
    state.loseAt(document.keywordPointer(node, '$ref'), lost, why)
    return resolveNode(state, beside, path, kinds)
  }
  if (target === undefined) return stay('$ref', 'It points to nothing within the schema, so any value is let through.')
  if (typeof target === 'boolean') {
    return target
      ? resolveNode(state, beside, path, kinds)
      : stay('$ref', 'It points to a schema that nothing matches.')
  }
  if (path.entered.filter((entered) => entered === target).length >= compileLimits.repeats) {
    return stay('recursive $ref', `${state.dialect.label} takes no references; the schema is written out so far only.`)
  }
  if (!state.step()) return stay('$ref', 'The whole would become too large to send. Any value is let through.')
  const inside = resolveNode(state, target, { ...path, entered: [...path.entered, target] }, kinds)
  const here = resolveNode(state, beside, inside.path, kinds)
  return join(state, node, here, inside)
}

const besideRef = (node: JsonSchema, onlyTexts: boolean) =>
  Object.fromEntries(
    Object.entries(node).filter(([key]) => key !== '$ref' && (!onlyTexts || annotations.includes(key))),
  )

function mergeAllOf(state: CompileState, node: JsonSchema, path: Path, kinds: ResolveKinds): Resolved {
  const rest = state.document.derive(omit(node, 'allOf'), node)
  let whole: Resolved = resolveNode(state, rest, path, kinds)
  for (const part of listOf(node.allOf)) {
    if (part === true) continue
    if (!isObject(part) || !state.step()) {
      state.lose(node, 'allOf', `${state.dialect.label} takes no allOf, and a part of it could not be merged.`)
      continue
    }
    whole = join(state, node, whole, resolveNode(state, part, whole.path, kinds))
  }
  return whole
}

/** One schema for both, where there is one; texts and defaults of the first win over those of the second. */
export function mergeNodes(state: CompileState, one: JsonSchema, other: JsonSchema): JsonSchema | undefined {
  const merged = mergeSchemas(one, other)
  const beaten = ['title', 'default', 'examples'].filter((key) => key in one && key in other)
  for (const key of merged === undefined ? [] : beaten) {
    if (!isSame(one[key], other[key]))
      state.lose(other, key, 'Two schemas that apply both have one; the outer is kept.')
  }
  return merged
}

/** Both as one, where that is exact; else the second, which is a reference's target or a part, is what stays open. */
function join(state: CompileState, origin: JsonSchema, one: Resolved, other: Resolved): Resolved {
  const path = other.path.entered.length > one.path.entered.length ? other.path : one.path
  const merged = mergeNodes(state, one.node, other.node)
  if (merged !== undefined) return { node: state.document.derive(merged, origin), path }
  const kept = '$ref' in origin ? other : one
  const lost = '$ref' in origin ? 'beside $ref' : 'allOf'
  state.loseAt(
    state.document.keywordPointer(origin, '$ref' in origin ? '$ref' : 'allOf'),
    lost,
    'Two schemas that both apply could not be written as one; the first that can stand alone is kept.',
  )
  return { node: kept.node, path }
}
