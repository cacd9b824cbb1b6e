import { isObject } from '../base/json-values.ts'
import type { LlmFormat } from '../contract/llm.ts'

/** The subset of JSON Schema that a provider supports. */
export interface ProviderDialect {
  /** The name of the provider in losses. */
  readonly label: string
  readonly keywords: ReadonlySet<string>
  /** Whether refs are replaced by their targets, or preserved with `$defs`. */
  readonly inlinesRefs: boolean
  readonly mergesAllOf: boolean
  readonly replacesOneOf: boolean
  /** Whether schemas follow OpenAPI 3.0: one type, `nullable`, and only strings in `enum`. */
  readonly isOpenApi: boolean
  /** Keywords that are not allowed in the root schema. */
  readonly notAtRoot: readonly string[]
  /** The pattern of valid argument names. */
  readonly argumentName: RegExp
}

/** Keywords whose omission is not a loss. */
export const silentKeywords = new Set(['$comment'])

const words = (text: string) => text.trim().split(/\s+/)

const common = words(`type enum description title properties required items minItems maxItems minimum maximum pattern
  format anyOf`)
const full = words(`const default examples deprecated readOnly writeOnly $ref $defs additionalProperties
  patternProperties propertyNames minProperties maxProperties minLength maxLength multipleOf exclusiveMinimum
  exclusiveMaximum uniqueItems prefixItems contains minContains maxContains allOf oneOf not if then else
  dependentRequired dependentSchemas unevaluatedProperties unevaluatedItems contentEncoding contentMediaType
  contentSchema`)

const open: ProviderDialect = {
  label: 'The provider',
  keywords: new Set([...common, ...full]),
  inlinesRefs: false,
  mergesAllOf: false,
  replacesOneOf: false,
  isOpenApi: false,
  notAtRoot: ['anyOf', 'oneOf', 'allOf'],
  argumentName: /^/,
}

/** The dialects of the providers, from their documentation and error messages. */
export const dialects = {
  mcp: { ...open, label: 'MCP', notAtRoot: [] },
  openai: { ...open, label: 'OpenAI', notAtRoot: ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not'] },
  openaiStrict: {
    ...open,
    label: 'OpenAI',
    keywords: new Set([
      ...common,
      ...words('const $ref $defs additionalProperties multipleOf exclusiveMinimum exclusiveMaximum'),
    ]),
    mergesAllOf: true,
    replacesOneOf: true,
    notAtRoot: ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not'],
  },
  anthropic: { ...open, label: 'Anthropic', argumentName: /^[A-Za-z0-9_.-]{1,64}$/ },
  gemini: {
    ...open,
    label: 'Gemini',
    keywords: new Set([
      ...common,
      ...words('nullable default minLength maxLength minProperties maxProperties propertyOrdering'),
    ]),
    inlinesRefs: true,
    mergesAllOf: true,
    replacesOneOf: true,
    isOpenApi: true,
    notAtRoot: ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', 'nullable'],
    argumentName: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
  },
} as const satisfies Record<string, ProviderDialect>

/** Maximum length of a description for each provider; the maximum stored length if the provider documents none. */
export const maxDescriptionLength: Record<LlmFormat, number> = {
  mcp: 20_000,
  openai: 1024,
  anthropic: 20_000,
  gemini: 20_000,
}

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
