import type { JsonObject } from '../base/json-values.ts'
import type { Effect, Walk } from './comparison.ts'
import { type SchemaPath, step, subjectOf } from './schema-path.ts'

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
export function compareBounds(walks: Walks, before: JsonObject, after: JsonObject, location: SchemaPath) {
  if (words.every((word) => before[word] === after[word])) return
  for (const { kind, min, max, unit } of counts) {
    const lows = [before, after].map((node) => ({ at: (node[min] as number | undefined) ?? 0, open: false }))
    const highs = [before, after].map((node) => ({ at: (node[max] as number | undefined) ?? Infinity, open: false }))
    compareLimit(walks[kind], { limits: lows, location: step(location, min), of: location, low: true, unit })
    compareLimit(walks[kind], { limits: highs, location: step(location, max), of: location, low: false, unit })
  }
  const lows = [before, after].map((node) => strictest(node, true))
  const highs = [before, after].map((node) => strictest(node, false))
  compareLimit(walks.number, { limits: lows, location: step(location, 'minimum'), of: location, low: true, unit: '' })
  compareLimit(walks.number, { limits: highs, location: step(location, 'maximum'), of: location, low: false, unit: '' })
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
  const at = step(location, 'multipleOf')
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
