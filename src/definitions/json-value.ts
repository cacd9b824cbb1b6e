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
