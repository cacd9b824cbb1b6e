import type { LlmFormat } from '../contract/llm.ts'

/** What a provider takes of JSON Schema. */
export interface ProviderDialect {
  /** As it is called in a loss. */
  readonly label: string
  readonly keywords: ReadonlySet<string>
  /** Whether references are replaced by what they point to, or kept with `$defs`. */
  readonly inlinesRefs: boolean
  readonly mergesAllOf: boolean
  readonly replacesOneOf: boolean
  /** Whether every schema is written with one type, `nullable` and texts as listed values, as OpenAPI 3.0 has it. */
  readonly isOpenApi: boolean
  /** What must not stand beside the properties of the arguments. */
  readonly notAtRoot: readonly string[]
  /** What the name of an argument must look like. */
  readonly argumentName: RegExp
}

/** Keywords that say nothing about values, or hold what others refer to: leaving them out loses nothing. */
export const silentKeywords = new Set([
  '$schema',
  '$id',
  'id',
  '$comment',
  '$anchor',
  '$dynamicAnchor',
  '$defs',
  'definitions',
  '$vocabulary',
])

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

/** What each provider takes, as its documentation and its error messages have it. */
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

/** The longest description of a tool that each provider takes; where none is known, the longest that is stored. */
export const maxDescriptionLength: Record<LlmFormat, number> = {
  mcp: 20_000,
  openai: 1024,
  anthropic: 20_000,
  gemini: 20_000,
}
