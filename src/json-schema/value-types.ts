import { type JsonObject, sameJson } from '../base/json-values.ts'
import { typeNames } from './keywords.ts'

/** The type of a value in JSON Schema; a number without a fraction is an integer. */
export function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

/** Whether a value is of a type. */
export const isOfType = (value: unknown, type: unknown): boolean =>
  typeOfValue(value) === type || (type === 'number' && typeof value === 'number')

/** The types that a schema declares; undefined if it declares none. */
export function declaredTypes({ type }: JsonObject): readonly string[] | undefined {
  const names = [type].flat().filter((name) => (typeNames as readonly unknown[]).includes(name)) as string[]
  return names.length > 0 ? names : undefined
}

/** The values of `const` and `enum` that are of a declared type; undefined if the schema has neither. */
export function listedValues(schema: JsonObject): readonly unknown[] | undefined {
  const listed = Array.isArray(schema.enum) ? (schema.enum as readonly unknown[]) : undefined
  const only = schema.const
  const values = only === undefined ? listed : (listed ?? [only]).filter((value) => sameJson(value, only))
  const types = declaredTypes(schema)
  return types === undefined ? values : values?.filter((value) => types.some((type) => isOfType(value, type)))
}

/** The types of the values that a schema can accept; undefined for all. */
export const possibleTypes = (schema: JsonObject): readonly string[] | undefined => {
  const values = listedValues(schema)
  return values === undefined ? declaredTypes(schema) : [...new Set(values.map(typeOfValue))]
}
