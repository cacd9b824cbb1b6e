import { isObject } from '../base/json-values.ts'
import type { JsonSchema } from '../contract/input-schema.ts'

/** The value if it is an array, else an empty array. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The strings in an array; empty for any other value. */
export const textsOf = (value: unknown): string[] => listOf(value).filter((item) => typeof item === 'string')

/** The entries of the given keys whose values are strings. */
export function pickTexts(value: JsonSchema, ...keys: readonly string[]): JsonSchema {
  return Object.fromEntries(keys.filter((key) => typeof value[key] === 'string').map((key) => [key, value[key]]))
}

/** The object without some of its keys. */
export function omit(value: JsonSchema, ...keys: readonly string[]): JsonSchema {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
}

/** Whether two JSON values are equal, ignoring the order of keys. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isSame(item, other[at]))
  }
  if (!isObject(one) || !isObject(other)) return false
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  return keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
}

/** The JSON Schema type of a value; a number without a fraction is an integer. */
export function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
