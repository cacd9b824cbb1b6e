import { isObject, type JsonObject, sameJson } from '../base/same-json.ts'
import type { SchemaPair, Walk } from './comparison.ts'
import { matchSame } from './match-same.ts'
import { hasReference } from './schema-node.ts'
import { type SchemaPath, step, subjectOf } from './schema-path.ts'

/** Keywords that are compared as a whole, those that belong together in one row. */
const groups: readonly Group[] = [
  { keywords: ['pattern'] },
  { keywords: ['format'] },
  { keywords: ['contentEncoding'] },
  { keywords: ['contentMediaType'] },
  { keywords: ['contentSchema'] },
  { keywords: ['dependentRequired'] },
  { keywords: ['dependencies'], named: true },
  { keywords: ['dependentSchemas'], named: true },
  { keywords: ['propertyNames'] },
  { keywords: ['not'] },
  { keywords: ['oneOf'] },
  // What these allow depends on what stands beside them, so to add or drop them tells nothing.
  { keywords: ['patternProperties'], named: true, entangled: true },
  { keywords: ['if', 'then', 'else'], entangled: true },
  { keywords: ['contains', 'minContains', 'maxContains'], entangled: true },
  { keywords: ['unevaluatedProperties'], entangled: true },
  { keywords: ['unevaluatedItems'], entangled: true },
  { keywords: ['nullable'], entangled: true },
  { keywords: ['$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'], entangled: true },
]

interface Group {
  readonly keywords: readonly string[]
  /** Whether the value holds schemas by name, so that it is none itself. */
  readonly named?: boolean
  readonly entangled?: boolean
}

const farReaching = ['unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef']

/** A keyword that sees what other keywords did, or schemas on the way: nothing that differs near it can be compared. */
export function findFarReaching(before: JsonObject, after: JsonObject): string | undefined {
  return farReaching.find((keyword) => before[keyword] !== undefined || after[keyword] !== undefined)
}

/** Compares the conditions that have no order of wider and narrower: they are there, gone, or other than before. */
export function compareConditions(walk: Walk, before: JsonObject, after: JsonObject, place: SchemaPath) {
  for (const group of groups) compareGroup(walk, group, [before, after], place)
  compareAll(walk, [listOf(before.allOf), listOf(after.allOf)], place)
}

function compareGroup(walk: Walk, group: Group, nodes: readonly [JsonObject, JsonObject], place: SchemaPath) {
  if (!group.keywords.some((keyword) => nodes.some((node) => node[keyword] !== undefined))) return
  const [was, is] = nodes.map((node) => group.keywords.map((keyword) => node[keyword])) as [unknown[], unknown[]]
  const name = group.keywords[0] ?? ''
  const at = step(place, name)
  const condition = `the condition '${name}' of ${subjectOf(place)}`
  const isSamePart = (before: unknown, index: number) =>
    isSame(walk, { before, after: is[index], place: at }, group.named === true)
  if (was.every(isSamePart)) {
    if (!sameJson(was, is)) walk.report(at, 'wording', `${condition} is written in other words`)
    return
  }
  if (group.entangled !== true && isEmpty(was)) return walk.report(at, 'narrowed', `${condition} is new`)
  if (group.entangled !== true && isEmpty(is)) return walk.report(at, 'widened', `${condition} is gone`)
  walk.report(at, 'unclear', `${condition} changed and could not be compared`)
}

const isEmpty = (values: readonly unknown[]) => values.every((value) => value === undefined)

function isSame(walk: Walk, { before, after, place }: SchemaPair, named: boolean): boolean {
  if (sameJson(before, after) && !hasReference(before)) return true
  if (Array.isArray(before) && Array.isArray(after)) return isSameList(walk, [before, after], place)
  if (!named) return areSchemas(before, after) && walk.same({ before, after, place })
  if (!isObject(before) || !isObject(after) || Object.keys(before).length !== Object.keys(after).length) return false
  return Object.entries(before).every(([name, part]) => {
    return Object.hasOwn(after, name) && isSame(walk, { before: part, after: after[name], place }, false)
  })
}

const areSchemas = (...values: unknown[]) => values.every((value) => isObject(value) || typeof value === 'boolean')

function isSameList(walk: Walk, [before, after]: readonly [unknown[], unknown[]], place: SchemaPath): boolean {
  if (before.length !== after.length || ![...before, ...after].every((value) => areSchemas(value))) return false
  return matchSame({ ...walk, compare: () => undefined }, [before, after], place)[0].length === 0
}

/** Each member is a condition more; those that are left after the equal ones are compared in order. */
function compareAll(walk: Walk, [was, is]: readonly [readonly unknown[], readonly unknown[]], place: SchemaPath) {
  const at = step(place, 'allOf')
  const [left, right] = matchSame(walk, [was, is], at)
  if (left.length === right.length) {
    for (const [index, member] of left.entries()) {
      walk.compare(member, right[index], step(at, `${is.indexOf(right[index])}`))
    }
  } else if (left.length === 0) walk.report(at, 'narrowed', `${subjectOf(place)} must meet a condition more`)
  else if (right.length === 0) walk.report(at, 'widened', `${subjectOf(place)} must meet a condition less`)
  else walk.report(at, 'unclear', `the conditions of ${subjectOf(place)} could not be compared`)
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
