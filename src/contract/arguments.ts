import type { Scalar } from './cli-config.ts'

/** The checked value of one argument. */
export type ArgValue = Scalar | readonly Scalar[]

/** Checked arguments by name, defaults filled in; what was not given and has no default is absent. */
export type ArgValues = ReadonlyMap<string, ArgValue>

/** Arguments as a policy checks them; null where the call says null. */
export type BoundValues = ReadonlyMap<string, ArgValue | null>
