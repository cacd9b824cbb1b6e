import { isObject, listOf, sameJson } from '../base/json-values.ts'
import type { JsonSchema } from '../contract/tool-index.ts'

/** Called for each subschema that was merged from two. */
type Note = (merged: JsonSchema, one: JsonSchema, other: JsonSchema) => void
type Merge = (one: unknown, other: unknown, note: Note) => unknown

/** One schema that accepts exactly the values that both accept, or undefined if there is no simple one. */
export function mergeSchemas(one: JsonSchema, other: JsonSchema, note: Note = () => {}): JsonSchema | undefined {
  if (groups.some((group) => !mayJoin(group, one, other)) || !mayJoinProperties(one, other)) return undefined
  if ('nullable' in one || 'nullable' in other) return undefined
  const entries: [string, unknown][] = []
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const merged = mergeKeyword(key, one, other, note)
    if (merged === undefined) return undefined
    entries.push([key, merged])
  }
  return Object.fromEntries(entries)
}

function mergeKeyword(key: string, one: JsonSchema, other: JsonSchema, note: Note): unknown {
  if (!Object.hasOwn(one, key)) return other[key]
  if (!Object.hasOwn(other, key) || sameJson(one[key], other[key])) return one[key]
  return Object.hasOwn(rules, key) ? rules[key]?.(one[key], other[key], note) : undefined
}

const first: Merge = (one) => one
const largest: Merge = (one, other) => numeric(one, other, Math.max)
const smallest: Merge = (one, other) => numeric(one, other, Math.min)

function numeric(one: unknown, other: unknown, pick: (...values: number[]) => number): number | undefined {
  return typeof one === 'number' && typeof other === 'number' ? pick(one, other) : undefined
}

const rules: Record<string, Merge> = {
  title: first,
  description: (one, other) => `${one}\n${other}`,
  default: first,
  examples: first,
  $comment: first,
  type: mergeTypes,
  enum: (one, other) => nonEmpty(listOf(one).filter((value) => listOf(other).some((item) => sameJson(item, value)))),
  required: (one, other) => [...new Set([...listOf(one), ...listOf(other)])],
  uniqueItems: (one, other) => one === true || other === true,
  properties: mergeProperties,
  items: mergeParts,
  minimum: largest,
  exclusiveMinimum: largest,
  minLength: largest,
  minItems: largest,
  minProperties: largest,
  maximum: smallest,
  exclusiveMaximum: smallest,
  maxLength: smallest,
  maxItems: smallest,
  maxProperties: smallest,
}

const nonEmpty = (list: readonly unknown[]) => (list.length > 0 ? list : undefined)

function mergeTypes(one: unknown, other: unknown): unknown {
  const [left, right] = [[one].flat(), [other].flat()]
  const accepts = (types: unknown[], type: unknown) =>
    types.includes(type) || (type === 'integer' && types.includes('number'))
  const both = [
    ...new Set([...left.filter((type) => accepts(right, type)), ...right.filter((type) => accepts(left, type))]),
  ].filter((type, _, all) => type !== 'integer' || !all.includes('number'))
  return both.length > 1 ? both : both[0]
}

function mergeParts(one: unknown, other: unknown, note: Note): unknown {
  if (one === true) return other
  if (other === true) return one
  if (!isObject(one) || !isObject(other)) return undefined
  if ('$ref' in one || '$ref' in other) return undefined
  const merged = mergeSchemas(one, other, note)
  if (merged !== undefined) note(merged, one, other)
  return merged
}

function mergeProperties(one: unknown, other: unknown, note: Note): unknown {
  if (!isObject(one) || !isObject(other)) return undefined
  const entries = [...new Set([...Object.keys(one), ...Object.keys(other)])].map((key) => {
    if (!Object.hasOwn(one, key)) return [key, other[key]] as const
    if (!Object.hasOwn(other, key) || sameJson(one[key], other[key])) return [key, one[key]] as const
    return [key, mergeParts(one[key], other[key], note)] as const
  })
  return entries.some(([, part]) => part === undefined) ? undefined : Object.fromEntries(entries)
}

// Keywords that depend on each other: one side may have them, not both.
const groups: readonly (readonly string[])[] = [
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
  ['prefixItems', 'unevaluatedItems'],
]

function mayJoin(group: readonly string[], one: JsonSchema, other: JsonSchema): boolean {
  const has = (schema: JsonSchema) => group.some((key) => Object.hasOwn(schema, key))
  const lists = group.includes('prefixItems')
  if (lists && has(one) && 'items' in other) return false
  if (lists && has(other) && 'items' in one) return false
  return !(has(one) && has(other)) || group.every((key) => sameJson(one[key], other[key]))
}

/** Whether the rules for other properties on one side do not affect the properties of the other side. */
function mayJoinProperties(one: JsonSchema, other: JsonSchema): boolean {
  if ('unevaluatedProperties' in one && evaluates(other)) return false
  if ('unevaluatedProperties' in other && evaluates(one)) return false
  return leavesAlone(one, other) && leavesAlone(other, one)
}

// Keywords that affect unevaluatedProperties.
const evaluating = [
  ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'dependentSchemas'],
  ...['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', '$ref', '$dynamicRef'],
]
const evaluates = (schema: JsonSchema) => evaluating.some((key) => key in schema)

function leavesAlone(one: JsonSchema, other: JsonSchema): boolean {
  if (!('additionalProperties' in one) || one.additionalProperties === true) return true
  const declared = isObject(one.properties) ? one.properties : {}
  const named = Object.keys(isObject(other.properties) ? other.properties : {})
  return !('patternProperties' in other) && named.every((key) => Object.hasOwn(declared, key))
}
