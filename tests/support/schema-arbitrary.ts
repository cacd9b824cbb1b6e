import fc, { type Arbitrary } from 'fast-check'

/** As much of JSON Schema as the document of the API uses. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema | boolean
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
}

// Whole numbers of a database; larger ones have tests of their own.
const largest = 1_000_000

/** Values that a schema allows. */
export function validFor(schema: Schema, find: (ref: string) => Schema): Arbitrary<unknown> {
  if (schema.$ref !== undefined) return validFor(find(schema.$ref), find)
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return fc.oneof(...either.map((each) => validFor(each, find)))
  const types = [schema.type ?? []].flat()
  if (types.length === 0) return fc.jsonValue({ maxDepth: 2 })
  return fc.oneof(...types.map((type) => ofType(type, schema, find)))
}

function ofType(type: string, schema: Schema, find: (ref: string) => Schema): Arbitrary<unknown> {
  const { minimum = -largest, maximum = largest } = schema
  const [min, max] = [Math.max(minimum, -largest), Math.min(maximum, largest)]
  if (type === 'string') return text(schema)
  if (type === 'integer') return fc.integer({ min, max })
  if (type === 'number') return fc.double({ min, max, noNaN: true })
  if (type === 'boolean') return fc.boolean()
  if (type === 'array') return list(schema, find)
  if (type === 'object') return object(schema, find)
  return fc.constant(null)
}

function text({ format, pattern, minLength = 0, maxLength = 30 }: Schema): Arbitrary<string> {
  if (format === 'uuid') return fc.uuid()
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
  const most = Math.min(maxLength, 30)
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, 'u')).map((each) => each.slice(0, most))
  const unit = fc.constantFrom('grapheme', 'binary', 'grapheme-ascii')
  return unit.chain((kind) => fc.string({ minLength, maxLength: most, unit: kind as 'grapheme' }))
}

function list({ items, minItems = 0, maxItems = 3 }: Schema, find: (ref: string) => Schema): Arbitrary<unknown> {
  const each = typeof items === 'object' ? validFor(items, find) : fc.jsonValue({ maxDepth: 1 })
  return fc.array(each, { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 3)) })
}

function object(schema: Schema, find: (ref: string) => Schema): Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema
  const fields = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, validFor(each, find)]))
  const known = fc.record(fields, { requiredKeys: required.filter((name) => name in fields) })
  if (additionalProperties === false || Object.keys(properties).length > 0) return known
  const more = typeof additionalProperties === 'object' ? validFor(additionalProperties, find) : fc.jsonValue()
  return fc.dictionary(fc.string({ maxLength: 10 }), more, { maxKeys: 3 })
}

const nested = (depth: number): unknown => (depth === 0 ? null : { null: [nested(depth - 1), null] })
const odd: readonly unknown[] = [
  null,
  0,
  -1,
  1.5,
  1e300,
  '',
  '5',
  'true',
  'null',
  'x'.repeat(30_000),
  '\u0000',
  '\ud800',
  '\u202e🧰\u0300',
  '%_\\\'";--',
  [],
  {},
  [[]],
  [null],
  [1, 'x'],
  true,
  { toString: 1 },
  nested(40),
  Array(500).fill(null),
]

/** A value with one thing about it that is probably wrong. */
export function brokenFrom(valid: Arbitrary<unknown>): Arbitrary<unknown> {
  const value = fc.constantFrom(...odd)
  const changed = fc.tuple(valid, fc.nat(), value, fc.constantFrom('replace', 'remove', 'add')).map(breakOne)
  return fc.oneof({ weight: 6, arbitrary: changed }, { weight: 1, arbitrary: value })
}

function breakOne([valid, at, value, how]: [unknown, number, unknown, string]): unknown {
  if (typeof valid !== 'object' || valid === null || Array.isArray(valid)) return value
  const names = Object.keys(valid)
  const name = names[at % Math.max(names.length, 1)]
  if (how === 'add' || name === undefined) return { ...valid, [`extra ${at % 7}`]: value }
  const { [name]: _gone, ...rest } = valid as Record<string, unknown>
  return how === 'remove' ? rest : { ...rest, [name]: value }
}
