import type { JsonObject } from '../base/same-json.ts'
import type { Effect, Walk } from './comparison.ts'
import { type SchemaPath, step, subjectOf } from './schema-path.ts'

/** A walk for each kind of values that limits are for. */
interface Walks {
  readonly number: Walk
  readonly text: Walk
  readonly list: Walk
  readonly object: Walk
}

const counts = [
  { kind: 'text', least: 'minLength', most: 'maxLength', unit: ' characters' },
  { kind: 'list', least: 'minItems', most: 'maxItems', unit: ' items' },
  { kind: 'object', least: 'minProperties', most: 'maxProperties', unit: ' properties' },
] as const

/** Compares how large, how long and how many the values may be. */
export function compareBounds(walks: Walks, before: JsonObject, after: JsonObject, place: SchemaPath) {
  for (const { kind, least, most, unit } of counts) {
    const lows = [before, after].map((node) => ({ at: (node[least] as number | undefined) ?? 0, open: false }))
    const highs = [before, after].map((node) => ({ at: (node[most] as number | undefined) ?? Infinity, open: false }))
    compareLimit(walks[kind], { limits: lows, place: step(place, least), of: place, low: true, unit })
    compareLimit(walks[kind], { limits: highs, place: step(place, most), of: place, low: false, unit })
  }
  const lows = [before, after].map((node) => strictest(node, true))
  const highs = [before, after].map((node) => strictest(node, false))
  compareLimit(walks.number, { limits: lows, place: step(place, 'minimum'), of: place, low: true, unit: '' })
  compareLimit(walks.number, { limits: highs, place: step(place, 'maximum'), of: place, low: false, unit: '' })
  compareMultiples(walks.number, before, after, place)
}

interface Limit {
  readonly at: number
  /** Whether the limit itself is outside. */
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
  readonly place: SchemaPath
  readonly of: SchemaPath
  readonly low: boolean
  readonly unit: string
}

function compareLimit(walk: Walk, { limits, place, of, low, unit }: LimitPair) {
  const [was, is] = limits as [Limit, Limit]
  if (was.at === is.at && was.open === is.open) return
  const tighter = was.at === is.at ? is.open : is.at > was.at === low
  const words = (limit: Limit) => `${limit.open ? (low ? 'more than' : 'less than') : low ? 'at least' : 'at most'}`
  const none = (limit: Limit) => !Number.isFinite(limit.at) || (unit !== '' && low && limit.at === 0)
  const subject = subjectOf(of)
  const effect: Effect = tighter ? 'narrowed' : 'widened'
  if (none(is)) return walk.report(place, effect, `${subject} need not be ${words(was)} ${was.at}${unit} any more`)
  const instead = none(was) ? '' : ` instead of ${was.open === is.open ? '' : `${words(was)} `}${was.at}`
  walk.report(place, effect, `${subject} allows ${words(is)} ${is.at}${unit}${instead || ' now'}`)
}

function compareMultiples(walk: Walk, before: JsonObject, after: JsonObject, place: SchemaPath) {
  const [was, is] = [before.multipleOf, after.multipleOf] as (number | undefined)[]
  if (was === is) return
  const at = step(place, 'multipleOf')
  const subject = subjectOf(place)
  if (is === undefined) return walk.report(at, 'widened', `${subject} need not be a multiple of ${was} any more`)
  const message = `${subject} must be a multiple of ${is}${was === undefined ? ' now' : ` instead of ${was}`}`
  walk.report(at, was === undefined ? 'narrowed' : effectOfStep(was, is), message)
}

/** Only whole numbers divide exactly. */
function effectOfStep(was: number, is: number): Effect {
  if (!Number.isSafeInteger(was) || !Number.isSafeInteger(is)) return 'unclear'
  if (was % is === 0) return 'widened'
  return is % was === 0 ? 'narrowed' : 'unclear'
}
