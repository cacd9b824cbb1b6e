import { isObject } from '../base/json-values.ts'

/** The supported drafts of JSON Schema. */
export type Dialect = 'draft-07' | '2020-12'

/** The required type of the value of a keyword. */
export type KeywordKind =
  | 'schema'
  | 'items'
  | 'schemas'
  | 'schema map'
  | 'pattern map'
  | 'dependencies'
  | 'count'
  | 'number'
  | 'positive'
  | 'boolean'
  | 'names'
  | 'names map'
  | 'text'
  | 'ref'
  | 'pattern'
  | 'type'
  | 'enum'
  | 'list'
  | 'any'

const kinds = <K extends KeywordKind>(kind: K, words: string): Record<string, K> =>
  Object.fromEntries(words.split(' ').map((word) => [word, kind]))

const shared: Record<string, KeywordKind> = {
  ...kinds('schema', 'contains additionalProperties propertyNames not if then else'),
  ...kinds('schemas', 'allOf anyOf oneOf'),
  ...kinds('schema map', 'properties definitions'),
  ...kinds('pattern map', 'patternProperties'),
  ...kinds('count', 'minLength maxLength minItems maxItems minProperties maxProperties'),
  ...kinds('number', 'minimum maximum exclusiveMinimum exclusiveMaximum'),
  ...kinds('positive', 'multipleOf'),
  ...kinds('boolean', 'uniqueItems readOnly writeOnly'),
  ...kinds('names', 'required'),
  ...kinds('text', 'title description $comment $schema $id format contentEncoding contentMediaType'),
  ...kinds('ref', '$ref'),
  ...kinds('pattern', 'pattern'),
  ...kinds('type', 'type'),
  ...kinds('enum', 'enum'),
  ...kinds('list', 'examples'),
  ...kinds('any', 'const default'),
}

/** The keywords of each draft; any other key is an annotation. */
export const keywords: Record<Dialect, ReadonlyMap<string, KeywordKind>> = {
  'draft-07': new Map(
    Object.entries({ ...shared, items: 'items', additionalItems: 'schema', dependencies: 'dependencies' }),
  ),
  '2020-12': new Map(
    Object.entries({
      ...shared,
      // An array is reported as a problem.
      ...kinds('items', 'items'),
      ...kinds('schema', 'unevaluatedItems unevaluatedProperties contentSchema'),
      ...kinds('schemas', 'prefixItems'),
      ...kinds('schema map', 'dependentSchemas $defs'),
      ...kinds('count', 'minContains maxContains'),
      ...kinds('boolean', 'deprecated'),
      ...kinds('names map', 'dependentRequired'),
      ...kinds('text', '$anchor $dynamicAnchor'),
      ...kinds('ref', '$dynamicRef'),
    }),
  ),
}

/** How the value of a keyword of 2020-12 contains schemas; undefined if it contains none. */
export function containerOfKeyword(word: string): 'schema' | 'array' | 'map' | undefined {
  const kind = keywords['2020-12'].get(word)
  if (kind === 'schema' || kind === 'items') return 'schema'
  if (kind === 'schemas') return 'array'
  return kind === 'schema map' || kind === 'pattern map' ? 'map' : undefined
}

/** Keywords that affect validation or defaults; the others are annotations, identifiers and containers. */
export const asserting: ReadonlySet<string> = new Set(
  (
    'contains additionalProperties propertyNames not if then else allOf anyOf oneOf properties patternProperties minLength ' +
    'maxLength minItems maxItems minProperties maxProperties minimum maximum exclusiveMinimum exclusiveMaximum multipleOf ' +
    'uniqueItems required pattern type enum const items additionalItems dependencies unevaluatedItems ' +
    'unevaluatedProperties prefixItems dependentSchemas minContains maxContains dependentRequired default'
  ).split(' '),
)

/** Names of schemas and containers of targets: they have no meaning once refs are resolved. */
export const identifiers: ReadonlySet<string> = new Set(
  '$schema $id id $anchor $dynamicAnchor $vocabulary $defs definitions'.split(' '),
)

/** The draft that a schema declares; undefined if it is not supported. */
export function dialectOfSchema(schema: unknown): Dialect | undefined {
  if (!isObject(schema) || schema.$schema === undefined) return '2020-12'
  const key = schemaUri(schema)
    .replace(/^https?:\/\//, '')
    .replace(/#$/, '')
  if (key === 'json-schema.org/draft-07/schema') return 'draft-07'
  return key === 'json-schema.org/draft/2020-12/schema' ? '2020-12' : undefined
}

/** Whether a schema declares a draft before draft-07. */
export const isOlderDraft = (schema: unknown): boolean => /draft-0[3-6]/.test(schemaUri(schema))

const schemaUri = (schema: unknown): string =>
  isObject(schema) && typeof schema.$schema === 'string' ? schema.$schema : ''

/** The keywords of either draft that are not annotations: each draft ignores those of the other. */
export const constraints: ReadonlySet<string> = new Set([...asserting, '$dynamicRef', 'contentSchema'])

/** The keywords of each draft that a normalized subschema does not have, or not in this form. */
export const differing: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  'draft-07': differingIn('draft-07'),
  '2020-12': differingIn('2020-12'),
}

function differingIn(dialect: Dialect): ReadonlySet<string> {
  const foreign = [...constraints].filter((word) => !keywords[dialect].has(word))
  return new Set([...identifiers, ...foreign, '$ref', '$dynamicRef', 'additionalItems', 'dependencies', 'nullable'])
}

/** Keywords whose schemas apply to the same value as the schema that contains them. */
export const inPlace: readonly string[] = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas']

export const typeNames = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const

/** The names of the types in other languages. */
export const typeAliases: Readonly<Record<string, string>> = {
  str: 'string',
  text: 'string',
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  bool: 'boolean',
  dict: 'object',
  map: 'object',
  list: 'array',
  tuple: 'array',
  none: 'null',
  nil: 'null',
}
