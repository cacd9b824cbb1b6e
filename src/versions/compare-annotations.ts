import { type JsonObject, sameJson } from '../base/json-values.ts'
import type { Walk } from './comparison.ts'
import { isAnnotation } from './schema-node.ts'
import { type SchemaPath, showValue, step, subjectOf } from './schema-path.ts'

/** Compares the annotations of a schema, and its default. */
export function compareAnnotations(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath): void {
  const keywords = new Set([...Object.keys(before), ...Object.keys(after)].filter(isAnnotation))
  for (const keyword of keywords) {
    if (sameJson(before[keyword], after[keyword])) continue
    if (keyword === 'default') compareDefaults(walk, [before.default, after.default], location)
    else walk.report(step(location, keyword), 'wording', `the ${keyword} of ${subjectOf(location)} changed`)
  }
}

function compareDefaults(walk: Walk, [before, after]: readonly [unknown, unknown], location: SchemaPath): void {
  const at = step(location, 'default')
  const subject = subjectOf(location)
  if (before === undefined) walk.report(at, 'defaulted', `${subject} is ${showValue(after)} if it is omitted`)
  else if (after === undefined) walk.report(at, 'redefaulted', `${subject} no longer has a default`)
  else walk.report(at, 'redefaulted', `${subject} is ${showValue(after)} by default instead of ${showValue(before)}`)
}
