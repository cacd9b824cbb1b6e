import { isObject } from '../base/json-values.ts'
import type { Scalar } from '../contract/cli-config.ts'
import type { ArgValue, BoundValues, Job, Uncheckable } from '../contract/executor.ts'

/**
 * The arguments of a call as a policy checks them: an array by its items, if the tool declares one; objects and other arrays cannot
 * be checked. A null counts as a value unless it is the default, because a call without the argument means the same.
 */
export function boundValues({ tool, input }: Pick<Job, 'tool' | 'input'>): readonly BoundValues[] {
  const isOmitted = (name: string, value: unknown) =>
    value === undefined || (value === null && propertyOf(tool.inputSchema, name)?.default === null)
  const values = Object.entries(input).filter(([name, value]) => !isOmitted(name, value))
  return [new Map(values.map(([name, value]) => [name, toBound(value, propertyOf(tool.inputSchema, name))]))]
}

type Property = Readonly<Record<string, unknown>>

function propertyOf(schema: unknown, name: string): Property | undefined {
  const properties = isObject(schema) ? schema.properties : undefined
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(property) ? property : undefined
}

function toBound(value: unknown, property: Property | undefined): ArgValue | null | Uncheckable {
  if (typeof value !== 'object' || value === null) return value as Scalar | null
  if (!Array.isArray(value)) return { uncheckable: 'an object' }
  const isFlat = value.every((item) => typeof item !== 'object' || item === null)
  return isFlat && isDeclaredArray(property) ? value.map(toScalar) : { uncheckable: 'an array' }
}

const composed = ['$ref', 'items', 'prefixItems', 'anyOf', 'oneOf', 'allOf']

function isDeclaredArray(property: Property = {}): boolean {
  const { type } = property
  return type === undefined ? composed.some((keyword) => keyword in property) : [type].flat().includes('array')
}

const toScalar = (value: unknown): Scalar => (value === null ? 'null' : (value as Scalar))
