import { isObject } from '../base/json-values.ts'

const typeNames = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']
const isType = (value: unknown) => typeNames.includes(value as string)
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value)
const isCount = (value: unknown) => isNumber(value) && Number.isInteger(value) && (value as number) >= 0
const isText = (value: unknown) => typeof value === 'string'
const isSchema = (value: unknown) => isObject(value) || typeof value === 'boolean'
const listOf = (check: (item: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(check)
const isSchemas = (value: unknown) => isObject(value) && Object.values(value).every(isSchema)

const shapes: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) => isType(value) || listOf(isType)(value),
  enum: Array.isArray,
  properties: isSchemas,
  patternProperties: isSchemas,
  required: listOf(isText),
  additionalProperties: isSchema,
  items: (value) => isSchema(value) || listOf(isSchema)(value),
  prefixItems: listOf(isSchema),
  additionalItems: isSchema,
  allOf: listOf(isSchema),
  anyOf: listOf(isSchema),
  oneOf: listOf(isSchema),
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minProperties: isCount,
  maxProperties: isCount,
  uniqueItems: (value) => typeof value === 'boolean',
  pattern: isText,
  format: isText,
}

/** Whether the value of a keyword is valid JSON Schema; true for keywords that are not compared individually. */
export function isWellFormed(keyword: string, value: unknown): boolean {
  return !Object.hasOwn(shapes, keyword) || shapes[keyword]?.(value) === true
}
