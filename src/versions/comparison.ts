import type { ChangeClass, SchemaChange } from '../contract/tool-diff.ts'
import type { SchemaPath } from './schema-path.ts'

/** Which way the values go: the caller writes the input and reads the output. */
export type Side = 'input' | 'output'

/**
 * What a difference does to the values that a schema allows.
 *
 * `lost` and `gained` are properties that were named and are not, or the other way round: to forget an argument gives a
 * call another meaning even where any argument is taken, and one that had no meaning may get one. A changed default
 * changes what a call without the argument does, so it is breaking, unless there was none to rely on (`defaulted`).
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

/** A difference as it is found, before anyone asks whom it hurts. */
export interface SchemaFinding {
  readonly place: SchemaPath
  readonly effect: Effect
  readonly message: string
}

/** The difference as the caller sees it. */
export function toSchemaChange(finding: SchemaFinding, side: Side): SchemaChange {
  return { pointer: finding.place.pointer, class: classes[side][finding.effect], message: finding.message }
}

/** Two schemas that stand at the same place. */
export interface SchemaPair {
  readonly before: unknown
  readonly after: unknown
  readonly place: SchemaPath
}

/** What the comparison of one keyword needs from the comparison of the whole. */
export interface Walk {
  readonly side: Side
  report(place: SchemaPath, effect: Effect, message: string): void
  compare(before: unknown, after: unknown, place: SchemaPath): void
  /** Whether all that the one allows the other allows: `kept` looks from before to after, `promised` the other way. */
  covers(pair: SchemaPair, direction: 'kept' | 'promised'): boolean
  /** Whether both mean the same, with the same defaults. */
  same(pair: SchemaPair): boolean
  /** The schema a reference stands for, on either side. */
  open(schema: unknown, of: 'before' | 'after'): unknown
}
