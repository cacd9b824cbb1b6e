import { isObject, type JsonObject, sameJson } from '../base/json-values.ts'
import type { SchemaChange } from '../contract/tool-diff.ts'
import { SchemaDocument } from '../json-schema/schema-document.ts'
import { findFarReaching } from './compare-conditions.ts'
import { compareKeywords } from './compare-keywords.ts'
import { type Effect, type SchemaFinding, type SchemaPair, type Side, toSchemaChange, type Walk } from './comparison.ts'
import { hasReference, isAnnotation, type OpenSchema, openSchemaNode } from './schema-node.ts'
import { type SchemaPath, showValue, stepInSchema, subjectOf, topOf } from './schema-path.ts'

/** Limits of a comparison, about 30 ms; beyond them it reports that it is incomplete. */
const limits = { depth: 64, steps: 1200, attempt: 3 }

const unacceptable: Readonly<Record<'kept' | 'promised' | 'same', ReadonlySet<Effect>>> = {
  kept: new Set<Effect>(['narrowed', 'unclear', 'lost', 'redefaulted']),
  promised: new Set<Effect>(['widened', 'unclear', 'lost', 'redefaulted']),
  same: new Set<Effect>(['narrowed', 'widened', 'unclear', 'lost', 'gained', 'redefaulted', 'defaulted']),
}

/**
 * The differences between two JSON Schemas, classed for callers, who write the input and read the output.
 *
 * A schema is a list of conditions, so a change that is not provably as wide (input) or as narrow (output) as before is
 * breaking. Defaults are assumed to be valid, and arguments that a schema did not name to have no meaning.
 */
export function diffSchemas(before: JsonObject, after: JsonObject, side: Side): SchemaChange[] {
  if (sameJson(before, after)) return []
  const findings: SchemaFinding[] = []
  const state = {
    before: new SchemaDocument(before),
    after: new SchemaDocument(after),
    side,
    findings,
    seen: new Map(),
    strict: false,
    steps: { left: limits.steps },
    gaveUp: false,
  }
  createWalk(state).compare(state.before.root, state.after.root, topOf(side))
  return findings.map((finding) => toSchemaChange(finding, side))
}

interface WalkState {
  readonly before: SchemaDocument
  readonly after: SchemaDocument
  readonly side: Side
  readonly findings: SchemaFinding[]
  /** Targets of refs that were compared: their differences are reported once, and recursion ends. */
  readonly seen: Map<unknown, Set<unknown>>
  /** Whether only equality is acceptable, as under `not`, where wider and narrower are reversed. */
  readonly strict: boolean
  readonly steps: { left: number }
  /** Whether the findings already report that the comparison is incomplete. */
  gaveUp: boolean
}

function createWalk(state: WalkState): Walk {
  const walk: Walk = {
    side: state.side,
    report: (location, effect, message) => void state.findings.push({ location, effect, message }),
    compare: (before, after, location) => compareAt(state, walk, { before, after, location }),
    covers: (pair, direction) => isAcceptable(state, pair, unacceptable[direction]),
    // Pairs that are assumed equal outside may be wider or narrower, which is not enough here.
    same: (pair) =>
      isSameText(pair) ||
      isAcceptable({ ...state, strict: true, seen: state.strict ? state.seen : new Map() }, pair, unacceptable.same),
    open: (schema, of) => openSchemaNode(schema, state[of])?.node,
  }
  return walk
}

/** Compares without reporting; pairs in progress are assumed equal, as their differences are reported there. */
function isAcceptable(state: WalkState, pair: SchemaPair, rejected: ReadonlySet<Effect>): boolean {
  state.steps.left -= limits.attempt
  if (state.steps.left < 0) return false
  const findings: SchemaFinding[] = []
  const seen = new Map([...state.seen].map(([target, others]) => [target, new Set(others)]))
  createWalk({ ...state, findings, seen, gaveUp: false }).compare(pair.before, pair.after, stepInSchema(pair.location))
  return !findings.some(({ effect }) => rejected.has(effect))
}

const isSameText = ({ before, after }: Pick<SchemaPair, 'before' | 'after'>) =>
  sameJson(before, after) && !hasReference(before)

function compareAt(state: WalkState, walk: Walk, { before, after, location }: SchemaPair) {
  state.steps.left -= 1
  if (state.steps.left < 0 || location.depth > limits.depth) return giveUp(state, walk, location)
  if (isSameText({ before, after }) || (isOutside(before) && sameJson(before, after))) return
  const [left, right] = [openSchemaNode(before, state.before), openSchemaNode(after, state.after)]
  if (left === undefined || right === undefined) {
    return walk.report(location, 'unclear', `${subjectOf(location)} could not be compared: it is not a valid schema`)
  }
  if (left.node === false || right.node === false) return compareNothing(walk, [left, right], location)
  const nodes = [left.node === true ? {} : left.node, right.node === true ? {} : right.node] as const
  compareAnnotations(walk, ...nodes, location)
  if (wasSeen(state.seen, left, right)) return
  const reported = state.findings.length
  compareKeywords(walk, ...nodes, location)
  const found = findFarReaching(...nodes)
  if (found === undefined || !state.findings.slice(reported).some(({ effect }) => effect !== 'wording')) return
  walk.report(location, 'unclear', `${subjectOf(location)} could not be compared because of '${found}'`)
}

/** Reports once that the comparison is incomplete. */
function giveUp(state: WalkState, walk: Walk, location: SchemaPath) {
  if (state.gaveUp) return
  state.gaveUp = true
  walk.report(
    location,
    'unclear',
    'the schemas could not be compared completely: they are nested too deeply or too large',
  )
}

/** A ref to another document is equivalent as long as its text is the same. */
const isOutside = (schema: unknown) =>
  isObject(schema) && typeof schema.$ref === 'string' && /^[a-z][a-z0-9+.-]*:/i.test(schema.$ref)

function compareNothing(walk: Walk, [left, right]: readonly [OpenSchema, OpenSchema], location: SchemaPath) {
  if (left.node === right.node) return
  if (right.node === false) walk.report(location, 'narrowed', `${subjectOf(location)} is no longer allowed`)
  else walk.report(location, 'widened', `${subjectOf(location)} is allowed now`)
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

/** Compares the annotations of a schema, and its default. */
function compareAnnotations(walk: Walk, before: JsonObject, after: JsonObject, location: SchemaPath): void {
  const keywords = new Set([...Object.keys(before), ...Object.keys(after)].filter(isAnnotation))
  for (const keyword of keywords) {
    if (sameJson(before[keyword], after[keyword])) continue
    if (keyword === 'default') compareDefaults(walk, [before.default, after.default], location)
    else walk.report(stepInSchema(location, keyword), 'wording', `the ${keyword} of ${subjectOf(location)} changed`)
  }
}

function compareDefaults(walk: Walk, [before, after]: readonly [unknown, unknown], location: SchemaPath): void {
  const at = stepInSchema(location, 'default')
  const subject = subjectOf(location)
  if (before === undefined) walk.report(at, 'defaulted', `${subject} is ${showValue(after)} if it is omitted`)
  else if (after === undefined) walk.report(at, 'redefaulted', `${subject} no longer has a default`)
  else walk.report(at, 'redefaulted', `${subject} is ${showValue(after)} by default instead of ${showValue(before)}`)
}
