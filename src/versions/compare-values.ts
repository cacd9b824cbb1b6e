import { type JsonObject, sameJson } from '../base/json-values.ts'
import type { Walk } from './comparison.ts'
import { type SchemaPath, showValue, step, subjectOf } from './schema-path.ts'

const everyType = ['string', 'number', 'boolean', 'null', 'array', 'object']
const maxValues = 5

/** The types of the values that a normalized schema allows. */
export const typesOf = (node: JsonObject): readonly string[] => (node.type as string[] | undefined) ?? everyType

/** Compares the types of two normalized schemas. */
export function compareTypes(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath) {
  if (before.enum !== undefined && after.enum !== undefined) return
  const [was, is] = [typesOf(before), typesOf(after)]
  const at = step(location, 'type')
  const gone = was.filter((type) => !allows(is, type))
  const added = is.filter((type) => !allows(was, type))
  const change = `${subjectOf(location)} is ${showTypes(is)} instead of ${showTypes(was)}`
  // If one side has an enum, its values are compared instead.
  if (gone.length > 0 && (after.enum === undefined || added.length > 0)) walk.report(at, 'narrowed', change)
  if (added.length > 0 && (before.enum === undefined || gone.length > 0)) walk.report(at, 'widened', change)
}

const allows = (types: readonly string[], type: string) =>
  types.includes(type) || (type === 'integer' && types.includes('number'))

function showTypes(types: readonly string[]): string {
  if (everyType.every((type) => types.includes(type))) return 'of any type'
  return types.length === 0 ? 'of no type' : [...types].sort().join(' or ')
}

/** Compares the lists of values of two normalized schemas. */
export function compareValues(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath) {
  const [was, is] = [before.enum, after.enum] as (readonly unknown[] | undefined)[]
  const at = step(location, 'enum')
  const subject = subjectOf(location)
  if (was === undefined && is === undefined) return
  if (was === undefined) return walk.report(at, 'narrowed', `${subject} only allows ${showValues(is ?? [])} now`)
  if (is === undefined) return walk.report(at, 'widened', `${subject} is no longer limited to ${showValues(was)}`)
  for (const { what, are } of describeValues(valuesMissing(was, is))) {
    walk.report(at, 'narrowed', `the ${what} of ${subject} ${are} no longer allowed`)
  }
  for (const { what, are } of describeValues(valuesMissing(is, was))) {
    walk.report(at, 'widened', `the ${what} of ${subject} ${are} allowed now`)
  }
}

function describeValues(values: readonly unknown[]): readonly { what: string; are: string }[] {
  const listed = values.slice(0, maxValues).map((value) => ({ what: `value ${showValue(value)}`, are: 'is' }))
  const rest = values.length - listed.length
  return rest === 0 ? listed : [...listed, { what: `other values (${rest} more)`, are: 'are' }]
}

function showValues(values: readonly unknown[]): string {
  const rest = values.length - maxValues
  return values.slice(0, maxValues).map(showValue).join(', ') + (rest > 0 ? ` and ${rest} more` : '') || 'nothing'
}

/** The values of the first array that are not in the second; linear time for scalars. */
function valuesMissing(from: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  const plain = new Set(others.filter((value) => !isNested(value)))
  const nested = others.filter(isNested)
  return from.filter((value) => (isNested(value) ? !nested.some((other) => sameJson(value, other)) : !plain.has(value)))
}

const isNested = (value: unknown) => typeof value === 'object' && value !== null
