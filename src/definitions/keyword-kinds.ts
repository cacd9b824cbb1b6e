import { isObject } from '../base/json-values.ts'

const words = (text: string) => text.trim().split(/\s+/)

/** Keywords for which every provider accepts true and false. */
export const flagKeywords = new Set(['items', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'])

const silentWhenOpen = new Set(
  words(`items additionalItems additionalProperties propertyNames unevaluatedItems unevaluatedProperties contentSchema
    then else patternProperties dependentSchemas dependentRequired properties`),
)

/** Whether a keyword accepts every value; some never do, such as `not` and `contains`. */
export const isVacuous = (key: string, value: unknown): boolean =>
  silentWhenOpen.has(key) && (value === true || (isObject(value) && Object.keys(value).length === 0))

const numeric = words('minimum maximum exclusiveMinimum exclusiveMaximum multipleOf')

/** The keywords that apply to values of one type only. */
export const keywordsOfType: Record<string, readonly string[]> = {
  object: words(`properties required additionalProperties patternProperties propertyNames minProperties maxProperties
    dependentRequired dependentSchemas unevaluatedProperties`),
  array: words(`items prefixItems minItems maxItems uniqueItems contains minContains maxContains unevaluatedItems`),
  string: words('minLength maxLength pattern contentEncoding contentMediaType contentSchema'),
  number: numeric,
  integer: numeric,
  boolean: [],
}
