import type { ArgValue, ArgValues } from '../contract/arguments.ts'
import type { Scalar } from '../contract/cli-config.ts'

/** The arguments of a call as a policy looks at them: an object is bound by what it looks like as JSON. */
export function boundValues(input: Readonly<Record<string, unknown>>): readonly ArgValues[] {
  return [new Map(Object.entries(input).flatMap(([name, value]) => (value == null ? [] : [[name, toArgValue(value)]])))]
}

const toArgValue = (value: unknown): ArgValue => (Array.isArray(value) ? value.map(toScalar) : toScalar(value))

const toScalar = (value: unknown): Scalar => (typeof value === 'object' ? JSON.stringify(value) : (value as Scalar))
