import { isObject } from '../base/same-json.ts'
import type { JsonSchema } from '../contract/input-schema.ts'

/** The value where it is a list, else an empty one. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The texts in a value that should be a list of texts. */
export const textsOf = (value: unknown): string[] => listOf(value).filter((item) => typeof item === 'string')

/** Those of some keys of an object that are texts. */
export function pickTexts(value: JsonSchema, ...keys: readonly string[]): JsonSchema {
  return Object.fromEntries(keys.filter((key) => typeof value[key] === 'string').map((key) => [key, value[key]]))
}

/** The object without some of its keys. */
export function omit(value: JsonSchema, ...keys: readonly string[]): JsonSchema {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
}

/** Whether two JSON values are the same; the order of keys does not count. */
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

/** The type that JSON Schema gives a value; a whole number is an integer. */
export function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
