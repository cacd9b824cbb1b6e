import type { JsonObject } from '../base/json-values.ts'
import { areDisjoint } from '../json-schema/disjoint.ts'
import type { Walk } from './comparison.ts'
import { matchSame } from './match-same.ts'
import { withoutAnnotations } from './schema-node.ts'
import { type SchemaPath, step, subjectOf } from './schema-path.ts'

/**
 * Converts both schemas to alternatives if that makes them comparable: `oneOf` with disjoint members is `anyOf`, and a
 * schema that is compared with alternatives only is one alternative.
 */
export function toAlternatives(walk: Walk, before: JsonObject, after: JsonObject): readonly [JsonObject, JsonObject] {
  const [left, right] = [exclusiveToAny(walk, before, 'before'), exclusiveToAny(walk, after, 'after')]
  if (isOnlyAny(left) && right.anyOf === undefined) return [left, lift(right)]
  if (isOnlyAny(right) && left.anyOf === undefined) return [lift(left), right]
  return [left, right]
}

function exclusiveToAny(walk: Walk, node: JsonObject, of: 'before' | 'after'): JsonObject {
  const { oneOf, ...rest } = node
  if (oneOf === undefined || rest.anyOf !== undefined) return node
  const open = (part: unknown) => walk.open(part, of)
  return areDisjoint((oneOf as unknown[]).map(open), open) ? { ...rest, anyOf: oneOf } : node
}

const isOnlyAny = (node: JsonObject) => {
  const keywords = Object.keys(withoutAnnotations(node))
  return keywords.length === 1 && keywords[0] === 'anyOf'
}

const lift = (node: JsonObject): JsonObject => ({ anyOf: [withoutAnnotations(node)] })

/** Compares alternatives: each old one must be covered by a new one, and the other way round. */
export function compareAlternatives(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath) {
  const [was, is] = [before.anyOf, after.anyOf] as (readonly unknown[] | undefined)[]
  if (was === undefined && is === undefined) return
  const at = step(location, 'anyOf')
  if (was === undefined)
    return walk.report(at, 'narrowed', `${subjectOf(location)} must be one of the alternatives now`)
  if (is === undefined) return walk.report(at, 'widened', `${subjectOf(location)} is no longer limited to alternatives`)
  const [left, right] = matchSame(walk, [was, is], at)
  if (left.length === 1 && right.length === 1)
    return walk.compare(left[0], right[0], step(at, `${is.indexOf(right[0])}`))
  const covers = (from: unknown, to: unknown, direction: 'kept' | 'promised') =>
    walk.covers({ before: from, after: to, location: at }, direction)
  if (left.some((member) => !is.some((other) => covers(member, other, 'kept')))) {
    walk.report(at, 'narrowed', `an alternative of ${subjectOf(location)} was removed, or could not be compared`)
  }
  if (right.some((member) => !was.some((other) => covers(other, member, 'promised')))) {
    walk.report(at, 'widened', `${subjectOf(location)} has a new alternative, or one that could not be compared`)
  }
}
