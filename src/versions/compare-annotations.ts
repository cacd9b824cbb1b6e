import { type JsonObject, sameJson } from '../base/same-json.ts'
import type { Walk } from './comparison.ts'
import { isAnnotation } from './schema-node.ts'
import { type SchemaPath, showValue, step, subjectOf } from './schema-path.ts'

/** Compares what a schema says about values without allowing or forbidding any, and its default. */
export function compareAnnotations(walk: Walk, before: JsonObject, after: JsonObject, place: SchemaPath): void {
  const keywords = new Set([...Object.keys(before), ...Object.keys(after)].filter(isAnnotation))
  for (const keyword of keywords) {
    if (sameJson(before[keyword], after[keyword])) continue
    if (keyword === 'default') compareDefaults(walk, [before.default, after.default], place)
    else walk.report(step(place, keyword), 'wording', `the ${keyword} of ${subjectOf(place)} changed`)
  }
}

function compareDefaults(walk: Walk, [before, after]: readonly [unknown, unknown], place: SchemaPath): void {
  const at = step(place, 'default')
  const subject = subjectOf(place)
  if (before === undefined) walk.report(at, 'defaulted', `${subject} is ${showValue(after)} where it is left out`)
  else if (after === undefined) walk.report(at, 'redefaulted', `${subject} has no default any more`)
  else walk.report(at, 'redefaulted', `${subject} is ${showValue(after)} by default instead of ${showValue(before)}`)
}
