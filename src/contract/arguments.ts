import type { Scalar } from './cli-config.ts'

/** The validated value of one argument. */
export type ArgValue = Scalar | readonly Scalar[]

/** Validated arguments by name, with defaults; an argument without a value and a default is absent. */
export type ArgValues = ReadonlyMap<string, ArgValue>

/** A value that no bound applies to: its text would depend on where the executor uses it. */
export interface Uncheckable {
  readonly uncheckable: 'an object' | 'an array'
}

/** Arguments as a policy validates them; null where the call passes null. */
export type BoundValues = ReadonlyMap<string, ArgValue | null | Uncheckable>
