import type { JsonObject } from '../base/same-json.ts'
import type { Walk } from './comparison.ts'
import { areDisjoint } from './disjoint.ts'
import { matchSame } from './match-same.ts'
import { withoutAnnotations } from './schema-node.ts'
import { type SchemaPath, step, subjectOf } from './schema-path.ts'

/**
 * Both schemas as alternatives where that makes them comparable: `oneOf` whose members exclude each other is `anyOf`, and
 * a schema beside nothing but alternatives is one alternative.
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
  const members = (oneOf as unknown[]).map((member) => walk.open(member, of))
  return areDisjoint(members) ? { ...rest, anyOf: oneOf } : node
}

const isOnlyAny = (node: JsonObject) => {
  const keywords = Object.keys(withoutAnnotations(node))
  return keywords.length === 1 && keywords[0] === 'anyOf'
}

const lift = (node: JsonObject): JsonObject => ({ anyOf: [withoutAnnotations(node)] })

/** Compares alternatives: each of before needs one of after that allows as much, and the other way round. */
export function compareAlternatives(walk: Walk, before: JsonObject, after: JsonObject, place: SchemaPath) {
  const [was, is] = [before.anyOf, after.anyOf] as (readonly unknown[] | undefined)[]
  if (was === undefined && is === undefined) return
  const at = step(place, 'anyOf')
  if (was === undefined) return walk.report(at, 'narrowed', `${subjectOf(place)} must be one of the alternatives now`)
  if (is === undefined) return walk.report(at, 'widened', `${subjectOf(place)} has no alternatives it must be any more`)
  const [left, right] = matchSame(walk, [was, is], at)
  if (left.length === 1 && right.length === 1)
    return walk.compare(left[0], right[0], step(at, `${is.indexOf(right[0])}`))
  const covers = (from: unknown, to: unknown, direction: 'kept' | 'promised') =>
    walk.covers({ before: from, after: to, place: at }, direction)
  if (left.some((member) => !is.some((other) => covers(member, other, 'kept')))) {
    walk.report(at, 'narrowed', `an alternative of ${subjectOf(place)} is gone, or could not be compared`)
  }
  if (right.some((member) => !was.some((other) => covers(other, member, 'promised')))) {
    walk.report(at, 'widened', `${subjectOf(place)} has an alternative that it had not, or that could not be compared`)
  }
}
