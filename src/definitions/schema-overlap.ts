import { isObject } from '../base/json-values.ts'
import type { JsonSchema } from '../contract/input-schema.ts'
import { isSame, textsOf, typeOfValue } from './json-value.ts'

/** Whether provably no value matches two of the schemas. */
export function cannotOverlap(schemas: readonly unknown[]): boolean {
  if (!schemas.every(isObject) || schemas.length > 100) return false
  return schemas.every((one, at) => schemas.slice(at + 1).every((other) => excludes(one, other)))
}

function excludes(one: JsonSchema, other: JsonSchema): boolean {
  return excludesTypes(typesOf(one), typesOf(other)) || excludesValues(one, other) || excludesTags(one, other)
}

function typesOf(schema: JsonSchema): string[] {
  const named = [schema.type].flat().filter((type) => typeof type === 'string')
  return named.length > 0 ? named : [...new Set((valuesOf(schema) ?? []).map(typeOfValue))]
}

function excludesTypes(one: readonly string[], other: readonly string[]): boolean {
  const widen = (types: readonly string[]) => types.map((type) => (type === 'integer' ? 'number' : type))
  return one.length > 0 && other.length > 0 && !widen(one).some((type) => widen(other).includes(type))
}

function valuesOf(schema: JsonSchema): readonly unknown[] | undefined {
  if ('const' in schema) return [schema.const]
  return Array.isArray(schema.enum) ? schema.enum : undefined
}

function excludesValues(one: JsonSchema, other: JsonSchema): boolean {
  const [left, right] = [valuesOf(one), valuesOf(other)]
  return left !== undefined && right !== undefined && !left.some((value) => right.some((item) => isSame(item, value)))
}

/** Whether a property that both require has disjoint values. */
function excludesTags(one: JsonSchema, other: JsonSchema): boolean {
  const tags = textsOf(one.required).filter((name) => textsOf(other.required).includes(name))
  if (one.type !== 'object' || other.type !== 'object') return false
  return tags.some((name) => {
    const [left, right] = [propertyOf(one, name), propertyOf(other, name)]
    return left !== undefined && right !== undefined && excludesValues(left, right)
  })
}

function propertyOf(schema: JsonSchema, name: string): JsonSchema | undefined {
  const { properties } = schema
  if (!isObject(properties) || !Object.hasOwn(properties, name)) return undefined
  const property = properties[name]
  return isObject(property) ? property : undefined
}
