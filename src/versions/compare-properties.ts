import { isObject, type JsonObject } from '../base/same-json.ts'
import type { Walk } from './comparison.ts'
import { isConstrained } from './schema-node.ts'
import { atProperty, namedAt, type SchemaPath, step, subjectOf } from './schema-path.ts'

/** Compares the properties of objects: those that are named, those that must be there, and all others. */
export function compareProperties(walk: Walk, before: JsonObject, after: JsonObject, place: SchemaPath) {
  const [was, is] = [propertiesOf(before), propertiesOf(after)]
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    compareProperty(walk, { name, before, after, place })
  }
  compareRequired(walk, before, after, place)
  if (before.additionalProperties === undefined && after.additionalProperties === undefined) return
  compareOthers(walk, [before.additionalProperties ?? true, after.additionalProperties ?? true], place)
}

interface Named {
  readonly name: string
  readonly before: JsonObject
  readonly after: JsonObject
  readonly place: SchemaPath
}

function compareProperty(walk: Walk, { name, before, after, place }: Named) {
  const at = atProperty(place, name)
  const [was, is] = [schemaOf(before, name), schemaOf(after, name)]
  if (isNamed(before, name) && !isNamed(after, name)) return walk.report(at, 'lost', `${namedAt(at)} was removed`)
  if (isNamed(before, name) || !isNamed(after, name)) return walk.compare(was, is, at)
  if (before.patternProperties !== undefined) {
    return walk.report(at, 'unclear', `${namedAt(at)} is new, and could not be compared with the patterns for names`)
  }
  const closed = was === false
  walk.report(at, closed ? 'widened' : 'gained', `${namedAt(at)} is new`)
  // Where any other property was taken, those of this name had no meaning; where they had a schema, or any value at all was taken, they had one.
  if (isObject(was) && Object.keys(was).length > 0) walk.compare(was, is, at)
  else if (place.depth > 0 && !isConstrained(before)) walk.compare(true, is, at)
}

const propertiesOf = (node: JsonObject) => (node.properties as JsonObject | undefined) ?? {}

/** What is named only to be forbidden is not offered. */
const isNamed = (node: JsonObject, name: string) => {
  const properties = propertiesOf(node)
  return Object.hasOwn(properties, name) && properties[name] !== false
}

function schemaOf(node: JsonObject, name: string): unknown {
  const properties = propertiesOf(node)
  return Object.hasOwn(properties, name) ? properties[name] : (node.additionalProperties ?? true)
}

function compareRequired(walk: Walk, before: JsonObject, after: JsonObject, place: SchemaPath) {
  const [was, is] = [before, after].map((node) => new Set((node.required as string[] | undefined) ?? []))
  for (const name of is ?? []) {
    if (was?.has(name)) continue
    const named = namedAt(atProperty(place, name))
    if (isFilledIn(walk, after, name, place))
      walk.report(step(place, 'required'), 'defaulted', `${named} is now required, and filled in where it is left out`)
    else walk.report(step(place, 'required'), 'narrowed', `${named} is now required`)
  }
  for (const name of was ?? []) {
    if (is?.has(name)) continue
    walk.report(step(place, 'required'), 'widened', `${namedAt(atProperty(place, name))} is no longer required`)
  }
}

/** Arguments that are left out get their defaults before a call is checked; what is inside an argument does not. */
function isFilledIn(walk: Walk, after: JsonObject, name: string, place: SchemaPath): boolean {
  const schema = Object.hasOwn(propertiesOf(after), name) ? propertiesOf(after)[name] : undefined
  return walk.side === 'input' && place.depth === 0 && isObject(schema) && schema.default !== undefined
}

function compareOthers(walk: Walk, [was, is]: readonly [unknown, unknown], place: SchemaPath) {
  const at = step(place, 'additionalProperties')
  const subject = subjectOf(place)
  if (is === false && was !== false)
    walk.report(at, 'narrowed', `${subject} takes no properties but those it names now`)
  else if (was === false && is !== false) walk.report(at, 'widened', `${subject} takes properties it does not name now`)
  else walk.compare(was, is, { ...at, path: place.path === '' ? '*' : `${place.path}.*` })
}
