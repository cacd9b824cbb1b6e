import type { ChangeClass, SchemaChange } from '../contract/tool-diff.ts'
import { type SchemaPath, stepInSchema } from './schema-path.ts'

/** The direction of the values: the caller writes the input and reads the output. */
export type Side = 'input' | 'output'

/**
 * The effect of a difference on the values that a schema allows.
 *
 * `lost` and `gained` are properties that are no longer or newly named: a removed argument changes the meaning of a call
 * even if any argument is accepted, and an argument without a meaning may get one. A changed default changes the effect of
 * a call without the argument, so it is breaking, unless there was no default before (`defaulted`).
 */
export type Effect = 'narrowed' | 'widened' | 'unclear' | 'lost' | 'gained' | 'redefaulted' | 'defaulted' | 'wording'

const classes: Readonly<Record<Side, Readonly<Record<Effect, ChangeClass>>>> = {
  input: {
    narrowed: 'breaking',
    widened: 'compatible',
    unclear: 'breaking',
    lost: 'breaking',
    gained: 'compatible',
    redefaulted: 'breaking',
    defaulted: 'compatible',
    wording: 'wording',
  },
  output: {
    narrowed: 'compatible',
    widened: 'breaking',
    unclear: 'breaking',
    lost: 'breaking',
    gained: 'compatible',
    redefaulted: 'wording',
    defaulted: 'wording',
    wording: 'wording',
  },
}

/** A difference before it is classed for callers. */
export interface SchemaFinding {
  readonly location: SchemaPath
  readonly effect: Effect
  readonly message: string
}

/** The difference with its class for callers. */
export function toSchemaChange(finding: SchemaFinding, side: Side): SchemaChange {
  return { pointer: finding.location.pointer, class: classes[side][finding.effect], message: finding.message }
}

/** Two schemas at the same path. */
export interface SchemaPair {
  readonly before: unknown
  readonly after: unknown
  readonly location: SchemaPath
}

/** The functions of a comparison that the comparisons of keywords use. */
export interface Walk {
  readonly side: Side
  report(location: SchemaPath, effect: Effect, message: string): void
  compare(before: unknown, after: unknown, location: SchemaPath): void
  /** Whether one schema allows all values of the other: `kept` from before to after, `promised` in reverse. */
  covers(pair: SchemaPair, direction: 'kept' | 'promised'): boolean
  /** Whether both are equivalent, with the same defaults. */
  same(pair: SchemaPair): boolean
  /** The schema with its refs resolved, on either side. */
  open(schema: unknown, of: 'before' | 'after'): unknown
}

type Members = readonly unknown[]

/** The members of two arrays without an equivalent in the other; equivalent pairs are compared for wording only. */
export function matchEqualMembers(
  walk: Walk,
  [before, after]: readonly [Members, Members],
  location: SchemaPath,
): [Members, Members] {
  const left: unknown[] = []
  const free = new Map(after.entries())
  for (const member of before) {
    const found = [...free].find(([, other]) => walk.same({ before: member, after: other, location }))
    if (found === undefined) left.push(member)
    else {
      free.delete(found[0])
      walk.compare(member, found[1], stepInSchema(location, `${found[0]}`))
    }
  }
  return [left, [...free.values()]]
}
