import { type JsonObject, sameJson } from '../base/json-values.ts'
import { areDisjoint } from '../json-schema/disjoint.ts'
import { compareConditions } from './compare-conditions.ts'
import { compareProperties } from './compare-properties.ts'
import { type Effect, matchEqualMembers, type Walk } from './comparison.ts'
import { isWellFormed, normalizeNode, withoutAnnotations } from './schema-node.ts'
import { atItems, type SchemaPath, showValue, stepInSchema, subjectOf } from './schema-path.ts'

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
    walk.report(stepInSchema(location, keyword), 'unclear', message)
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

/** Compares the items of arrays: those with a fixed position, and the others. */
function compareItems(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath): void {
  const [was, is] = [positionsOf(before), positionsOf(after)]
  for (let index = 0; index < Math.max(was.length, is.length); index++) {
    const at = atItems(location, 'prefixItems', String(index))
    walk.compare(was[index] ?? restOf(before), is[index] ?? restOf(after), at)
  }
  if (before.items !== undefined || after.items !== undefined) {
    walk.compare(restOf(before), restOf(after), atItems(location, 'items'))
  }
  if ((before.uniqueItems === true) === (after.uniqueItems === true)) return
  const message = `${subjectOf(location)} ${after.uniqueItems === true ? 'must not' : 'may'} contain duplicate items now`
  walk.report(stepInSchema(location, 'uniqueItems'), after.uniqueItems === true ? 'narrowed' : 'widened', message)
}

const positionsOf = (node: JsonObject) => (node.prefixItems as readonly unknown[] | undefined) ?? []
const restOf = (node: JsonObject) => node.items ?? true

/**
 * Converts both schemas to alternatives if that makes them comparable: `oneOf` with disjoint members is `anyOf`, and a
 * schema that is compared with alternatives only is one alternative.
 */
function toAlternatives(walk: Walk, before: JsonObject, after: JsonObject): readonly [JsonObject, JsonObject] {
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
function compareAlternatives(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath) {
  const [was, is] = [before.anyOf, after.anyOf] as (readonly unknown[] | undefined)[]
  if (was === undefined && is === undefined) return
  const at = stepInSchema(location, 'anyOf')
  if (was === undefined)
    return walk.report(at, 'narrowed', `${subjectOf(location)} must be one of the alternatives now`)
  if (is === undefined) return walk.report(at, 'widened', `${subjectOf(location)} is no longer limited to alternatives`)
  const [left, right] = matchEqualMembers(walk, [was, is], at)
  if (left.length === 1 && right.length === 1)
    return walk.compare(left[0], right[0], stepInSchema(at, `${is.indexOf(right[0])}`))
  const covers = (from: unknown, to: unknown, direction: 'kept' | 'promised') =>
    walk.covers({ before: from, after: to, location: at }, direction)
  if (left.some((member) => !is.some((other) => covers(member, other, 'kept')))) {
    walk.report(at, 'narrowed', `an alternative of ${subjectOf(location)} was removed, or could not be compared`)
  }
  if (right.some((member) => !was.some((other) => covers(other, member, 'promised')))) {
    walk.report(at, 'widened', `${subjectOf(location)} has a new alternative, or one that could not be compared`)
  }
}

const everyType = ['string', 'number', 'boolean', 'null', 'array', 'object']
const maxValues = 5

/** The types of the values that a normalized schema allows. */
export const typesOf = (node: JsonObject): readonly string[] => (node.type as string[] | undefined) ?? everyType

/** Compares the types of two normalized schemas. */
function compareTypes(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath) {
  if (before.enum !== undefined && after.enum !== undefined) return
  const [was, is] = [typesOf(before), typesOf(after)]
  const at = stepInSchema(location, 'type')
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
function compareValues(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath) {
  const [was, is] = [before.enum, after.enum] as (readonly unknown[] | undefined)[]
  const at = stepInSchema(location, 'enum')
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

/** The walks for the types of values that limits apply to. */
interface Walks {
  readonly number: Walk
  readonly text: Walk
  readonly list: Walk
  readonly object: Walk
}

const counts = [
  { kind: 'text', min: 'minLength', max: 'maxLength', unit: ' characters' },
  { kind: 'list', min: 'minItems', max: 'maxItems', unit: ' items' },
  { kind: 'object', min: 'minProperties', max: 'maxProperties', unit: ' properties' },
] as const

const words = [
  ...counts.flatMap(({ min, max }) => [min, max]),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
]

/** Compares the limits of numbers, strings, arrays and objects. */
function compareBounds(walks: Walks, before: JsonObject, after: JsonObject, location: SchemaPath) {
  if (words.every((word) => before[word] === after[word])) return
  for (const { kind, min, max, unit } of counts) {
    const lows = [before, after].map((node) => ({ at: (node[min] as number | undefined) ?? 0, open: false }))
    const highs = [before, after].map((node) => ({ at: (node[max] as number | undefined) ?? Infinity, open: false }))
    compareLimit(walks[kind], { limits: lows, location: stepInSchema(location, min), of: location, low: true, unit })
    compareLimit(walks[kind], { limits: highs, location: stepInSchema(location, max), of: location, low: false, unit })
  }
  const lows = [before, after].map((node) => strictest(node, true))
  const highs = [before, after].map((node) => strictest(node, false))
  compareLimit(walks.number, {
    limits: lows,
    location: stepInSchema(location, 'minimum'),
    of: location,
    low: true,
    unit: '',
  })
  compareLimit(walks.number, {
    limits: highs,
    location: stepInSchema(location, 'maximum'),
    of: location,
    low: false,
    unit: '',
  })
  compareMultiples(walks.number, before, after, location)
}

interface Limit {
  readonly at: number
  /** Whether the limit itself is excluded. */
  readonly open: boolean
}

function strictest(node: JsonObject, low: boolean): Limit {
  const sign = low ? 1 : -1
  const inner = (node[low ? 'minimum' : 'maximum'] as number | undefined) ?? -Infinity * sign
  const outer = (node[low ? 'exclusiveMinimum' : 'exclusiveMaximum'] as number | undefined) ?? -Infinity * sign
  const open = Number.isFinite(outer) && outer * sign >= inner * sign
  return { at: open ? outer : inner, open }
}

interface LimitPair {
  readonly limits: readonly Limit[]
  readonly location: SchemaPath
  readonly of: SchemaPath
  readonly low: boolean
  readonly unit: string
}

function compareLimit(walk: Walk, { limits, location, of, low, unit }: LimitPair) {
  const [was, is] = limits as [Limit, Limit]
  if (was.at === is.at && was.open === is.open) return
  const tighter = was.at === is.at ? is.open : is.at > was.at === low
  const relation = (limit: Limit) => `${limit.open ? (low ? 'more than' : 'less than') : low ? 'at least' : 'at most'}`
  const none = (limit: Limit) => !Number.isFinite(limit.at) || (unit !== '' && low && limit.at === 0)
  const subject = subjectOf(of)
  const effect: Effect = tighter ? 'narrowed' : 'widened'
  if (none(is)) return walk.report(location, effect, `${subject} no longer has to be ${relation(was)} ${was.at}${unit}`)
  const instead = none(was) ? '' : ` instead of ${was.open === is.open ? '' : `${relation(was)} `}${was.at}`
  walk.report(location, effect, `${subject} allows ${relation(is)} ${is.at}${unit}${instead || ' now'}`)
}

function compareMultiples(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath) {
  const [was, is] = [before.multipleOf, after.multipleOf] as (number | undefined)[]
  if (was === is) return
  const at = stepInSchema(location, 'multipleOf')
  const subject = subjectOf(location)
  if (is === undefined) return walk.report(at, 'widened', `${subject} no longer has to be a multiple of ${was}`)
  const message = `${subject} must be a multiple of ${is}${was === undefined ? ' now' : ` instead of ${was}`}`
  walk.report(at, was === undefined ? 'narrowed' : effectOfStep(was, is), message)
}

/** Only integers divide exactly. */
function effectOfStep(was: number, is: number): Effect {
  if (!Number.isSafeInteger(was) || !Number.isSafeInteger(is)) return 'unclear'
  if (was % is === 0) return 'widened'
  return is % was === 0 ? 'narrowed' : 'unclear'
}
