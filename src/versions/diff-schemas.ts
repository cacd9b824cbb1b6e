import { isObject, type JsonObject, sameJson } from '../base/same-json.ts'
import type { SchemaChange } from '../contract/tool-diff.ts'
import { compareAnnotations } from './compare-annotations.ts'
import { findFarReaching } from './compare-conditions.ts'
import { compareKeywords } from './compare-keywords.ts'
import { type Effect, type SchemaFinding, type SchemaPair, type Side, toSchemaChange, type Walk } from './comparison.ts'
import { hasReference, type OpenSchema, openSchema } from './schema-node.ts'
import { type SchemaPath, step, subjectOf, topOf } from './schema-path.ts'

/** How far a comparison goes before it gives up and reports that; about 30 ms. */
const limits = { depth: 64, steps: 1200, attempt: 3 }

const hurts: Readonly<Record<'kept' | 'promised' | 'same', ReadonlySet<Effect>>> = {
  kept: new Set<Effect>(['narrowed', 'unclear', 'lost', 'redefaulted']),
  promised: new Set<Effect>(['widened', 'unclear', 'lost', 'redefaulted']),
  same: new Set<Effect>(['narrowed', 'widened', 'unclear', 'lost', 'gained', 'redefaulted', 'defaulted']),
}

/**
 * The differences between two JSON Schemas, classed for whoever writes the input or reads the output.
 *
 * A schema is a list of conditions, so what is not provably as wide (input) or as narrow (output) as before is breaking.
 * Defaults are taken to be valid, and arguments that a schema did not name to have no meaning.
 */
export function diffSchemas(before: JsonObject, after: JsonObject, side: Side): SchemaChange[] {
  if (sameJson(before, after)) return []
  const findings: SchemaFinding[] = []
  const state = {
    before,
    after,
    side,
    findings,
    seen: new Map(),
    strict: false,
    steps: { left: limits.steps },
    gaveUp: false,
  }
  createWalk(state).compare(before, after, topOf(side))
  return findings.map((finding) => toSchemaChange(finding, side))
}

interface WalkState {
  readonly before: JsonObject
  readonly after: JsonObject
  readonly side: Side
  readonly findings: SchemaFinding[]
  /** Targets of references that were compared: what differs in them is told once, and recursion ends. */
  readonly seen: Map<unknown, Set<unknown>>
  /** Whether only equality will do, as under `not`, where wider and narrower change places. */
  readonly strict: boolean
  readonly steps: { left: number }
  /** Whether the findings report already that the comparison was given up. */
  gaveUp: boolean
}

function createWalk(state: WalkState): Walk {
  const walk: Walk = {
    side: state.side,
    report: (place, effect, message) => void state.findings.push({ place, effect, message }),
    compare: (before, after, place) => compareAt(state, walk, { before, after, place }),
    covers: (pair, direction) => tryOut(state, pair, hurts[direction]),
    // What was taken for granted outside may be wider or narrower, which is not enough here.
    same: (pair) =>
      isSameText(pair) ||
      tryOut({ ...state, strict: true, seen: state.strict ? state.seen : new Map() }, pair, hurts.same),
    open: (schema, of) => openSchema(schema, state[of])?.node,
  }
  return walk
}

/** Compares without telling; pairs under way outside are taken for granted, as their differences are told there. */
function tryOut(state: WalkState, pair: SchemaPair, bad: ReadonlySet<Effect>): boolean {
  state.steps.left -= limits.attempt
  if (state.steps.left < 0) return false
  const findings: SchemaFinding[] = []
  const seen = new Map([...state.seen].map(([target, others]) => [target, new Set(others)]))
  createWalk({ ...state, findings, seen, gaveUp: false }).compare(pair.before, pair.after, step(pair.place))
  return !findings.some(({ effect }) => bad.has(effect))
}

const isSameText = ({ before, after }: SchemaPair) => sameJson(before, after) && !hasReference(before)

function compareAt(state: WalkState, walk: Walk, { before, after, place }: SchemaPair) {
  state.steps.left -= 1
  if (state.steps.left < 0 || place.depth > limits.depth) return giveUp(state, walk, place)
  if (isOutside(before) && sameJson(before, after)) return
  const [left, right] = [openSchema(before, state.before), openSchema(after, state.after)]
  if (left === undefined || right === undefined) {
    return walk.report(place, 'unclear', `${subjectOf(place)} could not be compared: it is no schema that can be read`)
  }
  if (left.node === false || right.node === false) return compareNothing(walk, [left, right], place)
  const nodes = [left.node === true ? {} : left.node, right.node === true ? {} : right.node] as const
  compareAnnotations(walk, ...nodes, place)
  if (wasSeen(state.seen, left, right)) return
  const told = state.findings.length
  compareKeywords(walk, ...nodes, place)
  const found = findFarReaching(...nodes)
  if (found === undefined || !state.findings.slice(told).some(({ effect }) => effect !== 'wording')) return
  walk.report(place, 'unclear', `${subjectOf(place)} could not be compared because of '${found}'`)
}

/** One message is enough: past the limit nothing else is known. */
function giveUp(state: WalkState, walk: Walk, place: SchemaPath) {
  if (state.gaveUp) return
  state.gaveUp = true
  walk.report(place, 'unclear', 'the schemas could not be compared to the end: they nest too deep or are too large')
}

/** A reference to another document means the same as long as it reads the same. */
const isOutside = (schema: unknown) =>
  isObject(schema) && typeof schema.$ref === 'string' && /^[a-z][a-z0-9+.-]*:/i.test(schema.$ref)

function compareNothing(walk: Walk, [left, right]: readonly [OpenSchema, OpenSchema], place: SchemaPath) {
  if (left.node === right.node) return
  if (right.node === false) walk.report(place, 'narrowed', `${subjectOf(place)} may not be given any more`)
  else walk.report(place, 'widened', `${subjectOf(place)} may be given now`)
}

function wasSeen(seen: Map<unknown, Set<unknown>>, left: OpenSchema, right: OpenSchema): boolean {
  if (left.target === undefined && right.target === undefined) return false
  const key = left.target ?? left.node
  const others = seen.get(key) ?? new Set()
  const other = right.target ?? right.node
  if (others.has(other)) return true
  seen.set(key, others.add(other))
  return false
}
