import { isObject } from '../base/same-json.ts'
import type { ArgValue, BoundValues } from '../contract/arguments.ts'
import type { Scalar } from '../contract/cli-config.ts'
import type { Job } from '../contract/executor.ts'

/**
 * The arguments of a call as a policy checks them: an object is checked as its JSON text. A null counts as a value unless it is
 * the default, because a call without the argument means the same.
 */
export function boundValues({ tool, input }: Pick<Job, 'tool' | 'input'>): readonly BoundValues[] {
  const isOmitted = (name: string, value: unknown) =>
    value === undefined || (value === null && defaultOf(tool.inputSchema, name) === null)
  const values = Object.entries(input).filter(([name, value]) => !isOmitted(name, value))
  return [new Map(values.map(([name, value]) => [name, value === null ? null : toArgValue(value)]))]
}

function defaultOf(schema: unknown, name: string): unknown {
  const properties = isObject(schema) ? schema.properties : undefined
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(property) ? property.default : undefined
}

const toArgValue = (value: unknown): ArgValue => (Array.isArray(value) ? value.map(toScalar) : toScalar(value))

const toScalar = (value: unknown): Scalar => (typeof value === 'object' ? JSON.stringify(value) : (value as Scalar))
