import { type JsonObject, sameJson } from '../base/json-values.ts'
import { compareAlternatives, toAlternatives } from './compare-alternatives.ts'
import { compareBounds } from './compare-bounds.ts'
import { compareConditions } from './compare-conditions.ts'
import { compareItems } from './compare-items.ts'
import { compareProperties } from './compare-properties.ts'
import { compareTypes, compareValues, typesOf } from './compare-values.ts'
import type { Walk } from './comparison.ts'
import { isWellFormed, normalizeNode } from './schema-node.ts'
import { type SchemaPath, step, subjectOf } from './schema-path.ts'

/** Compares two schemas keyword by keyword: each is an independent condition, or part of a group that is compared together. */
export function compareKeywords(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath): void {
  reportMalformed(walk, [before, after], location)
  const [left, right] = toAlternatives(walk, normalizeNode(before), normalizeNode(after))
  compareTypes(walk, left, right, location)
  compareValues(walk, left, right, location)
  const forNumbers = onlyFor(walk, ['number', 'integer'], [left, right])
  const forTexts = onlyFor(walk, ['string'], [left, right])
  const forLists = onlyFor(walk, ['array'], [left, right])
  const forObjects = onlyFor(walk, ['object'], [left, right])
  compareBounds({ number: forNumbers, text: forTexts, list: forLists, object: forObjects }, left, right, location)
  compareItems(forLists, left, right, location)
  compareProperties(forObjects, left, right, location)
  compareAlternatives(walk, left, right, location)
  compareConditions(walk, left, right, location)
}

function reportMalformed(walk: Walk, [before, after]: readonly [JsonObject, JsonObject], location: SchemaPath): void {
  for (const keyword of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [left, right] = [before[keyword], after[keyword]]
    if (sameJson(left, right)) continue
    if ([left, right].every((value) => value === undefined || isWellFormed(keyword, value))) continue
    const message = `'${keyword}' of ${subjectOf(location)} could not be compared: it is not valid JSON Schema`
    walk.report(step(location, keyword), 'unclear', message)
  }
}

/**
 * A walk for the keywords of some types, which reports nothing unless both schemas allow such values: a limit of strings does
 * not affect numbers, and an added or removed type is reported already.
 */
function onlyFor(walk: Walk, types: readonly string[], nodes: readonly JsonObject[]): Walk {
  const applies = nodes.every((node) => typesOf(node).some((type) => types.includes(type)))
  return applies ? walk : { ...walk, report: () => undefined, compare: () => undefined }
}
