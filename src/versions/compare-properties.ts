import { isObject, type JsonObject } from '../base/json-values.ts'
import type { Walk } from './comparison.ts'
import { isConstrained } from './schema-node.ts'
import { atProperty, propertyNameAt, type SchemaPath, stepInSchema, subjectOf } from './schema-path.ts'

/** Compares the properties of objects: the named ones, the required ones, and all others. */
export function compareProperties(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath) {
  const [was, is] = [propertiesOf(before), propertiesOf(after)]
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    compareProperty(walk, { name, before, after, location })
  }
  compareRequired(walk, before, after, location)
  if (before.additionalProperties === undefined && after.additionalProperties === undefined) return
  compareOthers(walk, [before.additionalProperties ?? true, after.additionalProperties ?? true], location)
}

interface Named {
  readonly name: string
  readonly before: JsonObject
  readonly after: JsonObject
  readonly location: SchemaPath
}

function compareProperty(walk: Walk, { name, before, after, location }: Named) {
  const at = atProperty(location, name)
  const [was, is] = [schemaOf(before, name), schemaOf(after, name)]
  if (isNamed(before, name) && !isNamed(after, name))
    return walk.report(at, 'lost', `${propertyNameAt(at)} was removed`)
  if (isNamed(before, name) || !isNamed(after, name)) return walk.compare(was, is, at)
  if (before.patternProperties !== undefined) {
    return walk.report(
      at,
      'unclear',
      `${propertyNameAt(at)} is new, and could not be compared with the patterns for names`,
    )
  }
  const closed = was === false
  walk.report(at, closed ? 'widened' : 'gained', `${propertyNameAt(at)} is new`)
  // An unnamed argument had no meaning; an additional property with a schema, or a property of an unconstrained value, had one.
  if (isObject(was) && Object.keys(was).length > 0) walk.compare(was, is, at)
  else if (location.depth > 0 && !isConstrained(before)) walk.compare(true, is, at)
}

const propertiesOf = (node: JsonObject) => (node.properties as JsonObject | undefined) ?? {}

/** A property with the schema `false` is forbidden, so it does not count as named. */
const isNamed = (node: JsonObject, name: string) => {
  const properties = propertiesOf(node)
  return Object.hasOwn(properties, name) && properties[name] !== false
}

function schemaOf(node: JsonObject, name: string): unknown {
  const properties = propertiesOf(node)
  return Object.hasOwn(properties, name) ? properties[name] : (node.additionalProperties ?? true)
}

function compareRequired(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath) {
  const [was, is] = [before, after].map((node) => new Set((node.required as string[] | undefined) ?? []))
  for (const name of is ?? []) {
    if (was?.has(name)) continue
    const named = propertyNameAt(atProperty(location, name))
    if (hasInsertedDefault(walk, after, name, location))
      walk.report(
        stepInSchema(location, 'required'),
        'defaulted',
        `${named} is now required, and has a default if it is omitted`,
      )
    else walk.report(stepInSchema(location, 'required'), 'narrowed', `${named} is now required`)
  }
  for (const name of was ?? []) {
    if (is?.has(name)) continue
    walk.report(
      stepInSchema(location, 'required'),
      'widened',
      `${propertyNameAt(atProperty(location, name))} is no longer required`,
    )
  }
}

/** Whether a default is inserted before validation; that is the case for arguments, not for values inside them. */
function hasInsertedDefault(walk: Walk, after: JsonObject, name: string, location: SchemaPath): boolean {
  const schema = Object.hasOwn(propertiesOf(after), name) ? walk.open(propertiesOf(after)[name], 'after') : undefined
  return walk.side === 'input' && location.depth === 0 && isObject(schema) && schema.default !== undefined
}

function compareOthers(walk: Walk, [was, is]: readonly [unknown, unknown], location: SchemaPath) {
  const at = stepInSchema(location, 'additionalProperties')
  const subject = subjectOf(location)
  if (is === false && was !== false) walk.report(at, 'narrowed', `${subject} no longer allows unnamed properties`)
  else if (was === false && is !== false) walk.report(at, 'widened', `${subject} allows unnamed properties now`)
  else walk.compare(was, is, { ...at, path: location.path === '' ? '*' : `${location.path}.*` })
}
