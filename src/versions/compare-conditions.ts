import { isObject, type JsonObject, listOf, sameJson } from '../base/json-values.ts'
import { matchEqualMembers, type SchemaPair, type Walk } from './comparison.ts'
import { hasReference, isSchema } from './schema-node.ts'
import { type SchemaPath, stepInSchema, subjectOf } from './schema-path.ts'

/** Keywords that are compared as a whole; each row is a group that belongs together. */
const groups: readonly Group[] = [
  { keywords: ['pattern'] },
  { keywords: ['format'] },
  { keywords: ['contentEncoding'] },
  { keywords: ['contentMediaType'] },
  { keywords: ['contentSchema'] },
  { keywords: ['dependentRequired'] },
  { keywords: ['dependentSchemas'], named: true },
  { keywords: ['propertyNames'] },
  { keywords: ['not'] },
  { keywords: ['oneOf'] },
  // Their effect depends on sibling keywords, so adding or removing them proves nothing.
  { keywords: ['patternProperties'], named: true, entangled: true },
  { keywords: ['if', 'then', 'else'], entangled: true },
  { keywords: ['contains', 'minContains', 'maxContains'], entangled: true },
  { keywords: ['unevaluatedProperties'], entangled: true },
  { keywords: ['unevaluatedItems'], entangled: true },
]

interface Group {
  readonly keywords: readonly string[]
  /** Whether the value is an object of schemas by name, not a schema. */
  readonly named?: boolean
  readonly entangled?: boolean
}

const farReaching = ['unevaluatedProperties', 'unevaluatedItems']

/** A keyword that depends on other keywords: no difference beside it can be compared. */
export function findFarReaching(before: JsonObject, after: JsonObject): string | undefined {
  return farReaching.find((keyword) => before[keyword] !== undefined || after[keyword] !== undefined)
}

/** Compares the keywords without an order of wider and narrower: they are added, removed or changed. */
export function compareConditions(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath) {
  const present = new Set([...Object.keys(before), ...Object.keys(after)])
  for (const group of groups) {
    if (group.keywords.some((keyword) => present.has(keyword))) compareGroup(walk, group, [before, after], location)
  }
  if (present.has('allOf')) compareAll(walk, [listOf(before.allOf), listOf(after.allOf)], location)
}

function compareGroup(walk: Walk, group: Group, nodes: readonly [JsonObject, JsonObject], location: SchemaPath) {
  const [was, is] = nodes.map((node) => group.keywords.map((keyword) => node[keyword])) as [unknown[], unknown[]]
  const name = group.keywords[0] ?? ''
  const at = stepInSchema(location, name)
  const condition = `the condition '${name}' of ${subjectOf(location)}`
  const isSamePart = (before: unknown, index: number) =>
    isSame(walk, { before, after: is[index], location: at }, group.named === true)
  if (was.every(isSamePart)) {
    if (!sameJson(was, is)) walk.report(at, 'wording', `${condition} is written differently`)
    return
  }
  if (group.entangled !== true && isEmpty(was)) return walk.report(at, 'narrowed', `${condition} is new`)
  if (group.entangled !== true && isEmpty(is)) return walk.report(at, 'widened', `${condition} was removed`)
  walk.report(at, 'unclear', `${condition} changed and could not be compared`)
}

const isEmpty = (values: readonly unknown[]) => values.every((value) => value === undefined)

function isSame(walk: Walk, { before, after, location }: SchemaPair, named: boolean): boolean {
  if (sameJson(before, after) && !hasReference(before)) return true
  if (Array.isArray(before) && Array.isArray(after)) return isSameList(walk, [before, after], location)
  if (!named) return isSchema(before) && isSchema(after) && walk.same({ before, after, location })
  if (!isObject(before) || !isObject(after) || Object.keys(before).length !== Object.keys(after).length) return false
  return Object.entries(before).every(([name, part]) => {
    return Object.hasOwn(after, name) && isSame(walk, { before: part, after: after[name], location }, false)
  })
}

function isSameList(walk: Walk, [before, after]: readonly [unknown[], unknown[]], location: SchemaPath): boolean {
  if (before.length !== after.length || ![...before, ...after].every(isSchema)) return false
  return matchEqualMembers({ ...walk, compare: () => undefined }, [before, after], location)[0].length === 0
}

/** Compares `allOf`: each member is a further condition; the members without an equal counterpart are compared in order. */
function compareAll(walk: Walk, [was, is]: readonly [readonly unknown[], readonly unknown[]], location: SchemaPath) {
  const at = stepInSchema(location, 'allOf')
  const [left, right] = matchEqualMembers(walk, [was, is], at)
  if (left.length === right.length) {
    for (const [index, member] of left.entries()) {
      walk.compare(member, right[index], stepInSchema(at, `${is.indexOf(right[index])}`))
    }
  } else if (left.length === 0) walk.report(at, 'narrowed', `${subjectOf(location)} must meet an additional condition`)
  else if (right.length === 0) walk.report(at, 'widened', `${subjectOf(location)} must meet fewer conditions`)
  else walk.report(at, 'unclear', `the conditions of ${subjectOf(location)} could not be compared`)
}
