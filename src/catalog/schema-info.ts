import type { JsonSchema } from '../contract/input-schema.ts'
import type { SchemaInfo } from '../contract/tool-doc.ts'

/** The parameters of an input schema, as far as they can be derived; undefined if there are none. */
export function readSchemaInfo(schema: JsonSchema): SchemaInfo | undefined {
  const required = listOf(schema.required).filter((name) => typeof name === 'string')
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {})
  const defaults = properties.flatMap(([name, property]) =>
    isObject(property) && property.default !== undefined ? [[name, property.default] as const] : [],
  )
  const types = properties
    .map(([name, property]) => [name, typesOf(property)] as const)
    .filter(([, found]) => found.length > 0)
  if (required.length + defaults.length + types.length === 0) return undefined
  return { required, defaults: Object.fromEntries(defaults), types: Object.fromEntries(types) }
}

/** The types of a property, or of its alternatives or enum values if it has no type itself. */
function typesOf(property: unknown): string[] {
  if (!isObject(property)) return []
  const own = typeNamesOf(property)
  const alternatives = [...listOf(property.anyOf), ...listOf(property.oneOf)].filter(isObject).flatMap(typeNamesOf)
  const values = [...listOf(property.enum), ...('const' in property ? [property.const] : [])].map(typeOfValue)
  return [...new Set([own, alternatives, values].find((found) => found.length > 0))]
}

const typeNamesOf = ({ type }: JsonSchema) => [type].flat().filter((name) => typeof name === 'string')

function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
