import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deepFreeze, isObject } from '../base/json-values.ts'
import { LlmFormat, type Loss } from '../contract/llm.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { containerOfKeyword } from '../json-schema/keywords.ts'
import { valueAtPointer } from '../json-schema/schema-document.ts'
import { compileDefinition } from './convert-schema.ts'
import { dialects } from './dialects.ts'

const names = ['a', 'b', 'c', '__proto__', 'a b', 'n/1~']
const scalars = ['x', 'y', '', 1, 2, 1.5, true, null]
const types = ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object']
const Name = fc.constantFrom(...names)
const Value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...scalars),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(Name, tie('value'), { maxKeys: 3 }),
}))
const Bound = fc.integer({ min: 0, max: 3 })

const { schema: Schema } = fc.letrec((tie) => {
  const some = tie('schema')
  const map = fc.dictionary(Name, some, { maxKeys: 3 })
  const list = fc.array(some, { minLength: 1, maxLength: 3 })
  const keywords = {
    type: fc.oneof(
      fc.constantFrom(...types),
      fc.uniqueArray(fc.constantFrom(...types), { minLength: 1, maxLength: 3 }),
    ),
    description: fc.constantFrom('d', 'e'),
    enum: fc.uniqueArray(fc.constantFrom(...scalars), { minLength: 1, maxLength: 3 }),
    const: fc.constantFrom(...scalars),
    format: fc.constantFrom('uri', 'date-time', 'int32'),
    minimum: Bound,
    exclusiveMinimum: Bound,
    exclusiveMaximum: Bound,
    multipleOf: fc.constantFrom(1, 2),
    minLength: Bound,
    maxItems: Bound,
    uniqueItems: fc.boolean(),
    required: fc.uniqueArray(Name, { maxLength: 2 }),
    properties: map,
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$'), some, { maxKeys: 1 }),
    additionalProperties: some,
    items: some,
    prefixItems: list,
    contains: some,
    anyOf: list,
    oneOf: list,
    allOf: list,
    not: some,
    if: some,
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
    then: some,
    nullable: fc.boolean(),
    'x-own': fc.boolean(),
    $ref: fc.constantFrom('#/$defs/one', '#/$defs/two', '#', '#/$defs/none', 'https://example.com/x'),
    $comment: fc.constant('c'),
  }
  const few = fc
    .uniqueArray(fc.constantFrom(...(Object.keys(keywords) as (keyof typeof keywords)[])), { maxLength: 4 })
    .chain((keys) => fc.record(Object.fromEntries(keys.map((key) => [key, keywords[key] as fc.Arbitrary<unknown>]))))
  return { schema: fc.oneof({ maxDepth: 4, depthSize: 'small' }, fc.boolean(), few, few) }
})

const Root = fc
  .tuple(Schema, Schema, Schema, fc.dictionary(Name, Schema, { maxKeys: 3 }))
  .map(([own, one, two, properties]) => {
    const base = isObject(own) ? own : {}
    return deepFreeze({ type: 'object', properties, ...base, $defs: { one, two } }) as JsonSchema
  })

/** A schema within what all four providers share. */
const { schema: Common } = fc.letrec((tie) => {
  const object = fc
    .tuple(fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema'), { maxKeys: 3 }), fc.boolean())
    .map(([properties, all]) => ({ type: 'object', properties, ...(all ? { required: Object.keys(properties) } : {}) }))
  return {
    object,
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JsonSchema>(
        { type: 'string', minLength: 1 },
        { type: 'string', enum: ['x', 'y'], description: 'd' },
        { type: 'integer', minimum: 1, maximum: 2 },
        { type: ['number', 'null'] },
        { type: 'boolean' },
      ),
      object,
      fc.record({ type: fc.constant('array'), items: tie('schema'), maxItems: Bound }),
      fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ $ref: fc.constant('#/$defs/one') }),
    ),
  }
})

const ajv = new Ajv2020({
  strict: false,
  validateFormats: false,
  validateSchema: false,
  addUsedSchema: false,
  logger: false,
})

function validator(schema: unknown): ((value: unknown) => boolean) | undefined {
  try {
    const validate = ajv.compile(schema as JsonSchema)
    return (value) => validate(value) === true
  } catch {
    return undefined
  }
}

/** What Gemini means, in the words of JSON Schema. */
function fromOpenApi(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const entries = Object.entries(schema).map(([key, value]) => {
    if (key === 'properties' && isObject(value)) {
      return [key, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, fromOpenApi(part)]))]
    }
    if (key === 'anyOf' && Array.isArray(value)) return [key, value.map(fromOpenApi)]
    return [key, key === 'items' ? fromOpenApi(value) : value]
  })
  const { nullable, ...rest } = Object.fromEntries(entries)
  return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest
}

const accepts = (schema: JsonSchema, format: LlmFormat) => validator(format === 'gemini' ? fromOpenApi(schema) : schema)

function keywordsIn(schema: unknown): string[] {
  if (!isObject(schema)) return []
  return Object.entries(schema).flatMap(([key, value]) => {
    const container = containerOfKeyword(key)
    if (container === 'schema') return [key, ...keywordsIn(value)]
    if (container === 'array') return [key, ...(value as unknown[]).flatMap(keywordsIn)]
    if (container === 'map') return [key, ...Object.values(value as object).flatMap(keywordsIn)]
    return [key]
  })
}

const providers = fc.constantFrom(...LlmFormat.options)

// Where a provider needs a type that the stored schema does not name, takes no alternatives of the whole, or refuses the
// name of an argument, some values are not allowed any more.
const narrowing = ['any type', 'any other type', 'prefixItems', 'type', 'shape', 'argument', 'anyOf', 'oneOf']

const narrows = ({ pointer, lost }: Loss) =>
  narrowing.includes(lost) && (!lost.endsWith('Of') || pointer === `/${lost}` || pointer === '')

/** Whether the validator could follow the value; a schema that refers to itself alone makes it run for ever. */
function ask(validate: (value: unknown) => boolean, value: unknown): boolean | undefined {
  try {
    return validate(value)
  } catch {
    return undefined
  }
}

describe('any schema', () => {
  it('is compiled into keywords that the provider has, quickly, with losses that point into it', () => {
    fc.assert(
      fc.property(Root, providers, (stored, format) => {
        const { schema, losses, isStrict } = compileDefinition(stored, format)
        expect(JSON.parse(JSON.stringify(schema))).toEqual(schema)
        expect(JSON.stringify(schema).length).toBeLessThan(2_000_000)
        for (const { pointer } of losses) expect(valueAtPointer(stored, pointer), pointer).not.toBeUndefined()
        if (format === 'mcp') return
        const { keywords } = isStrict ? dialects.openaiStrict : dialects[format]
        expect(keywordsIn(schema).filter((key) => !keywords.has(key))).toEqual([])
        expect(Object.keys(schema).filter((key) => (dialects[format].notAtRoot as string[]).includes(key))).toEqual([])
      }),
      { numRuns: 600 },
    )
  })

  it('accepts the same when nothing was lost, and no less when something was', () => {
    fc.assert(
      fc.property(Root, providers, fc.array(Value.object, { minLength: 8, maxLength: 8 }), (stored, format, values) => {
        const { schema, losses } = compileDefinition(stored, format)
        const [before, after] = [validator(stored), accepts(schema, format)]
        if (before === undefined || losses.some(narrows)) return
        expect(after).toBeDefined()
        for (const value of values) {
          const [was, is] = [ask(before, value), after && ask(after, value)]
          if (was === undefined || is === undefined) continue
          if (losses.length === 0) expect(is).toBe(was)
          else expect(is || !was).toBe(true)
        }
      }),
      { numRuns: 600 },
    )
  })
})

describe('losses inside a negated schema', () => {
  it('drop the whole negation, because the remaining part would reject more', () => {
    const stored = { type: 'object', properties: { a: { not: { $ref: '#/nowhere', maxItems: 0 } } } }
    const { schema, losses } = compileDefinition(stored, 'openai')
    expect(schema).toEqual({ type: 'object', properties: { a: {} } })
    expect(losses.map(({ pointer }) => pointer)).toEqual(['/properties/a/not/$ref', '/properties/a/not'])
  })

  it('keeps what nothing matches, also by reference', () => {
    const stored = { type: 'object', properties: { a: { not: { $ref: '#/$defs/none' } } }, $defs: { none: false } }
    const { schema, losses } = compileDefinition(stored, 'openai')
    expect([schema, losses]).toEqual([{ type: 'object', properties: { a: { not: { not: {} } } } }, []])
  })
})

describe('a schema within what all providers share', () => {
  it('loses nothing, and accepts the same', () => {
    const Shared = fc.tuple(fc.dictionary(fc.constantFrom('a', 'b', 'c'), Common, { maxKeys: 3 }), Common)
    fc.assert(
      fc.property(
        Shared,
        providers,
        fc.array(Value.object, { minLength: 8, maxLength: 8 }),
        ([properties, one], format, values) => {
          fc.pre(!JSON.stringify(one).includes('$ref'))
          const stored = { type: 'object', properties, $defs: { one } }
          const { schema, losses } = compileDefinition(stored, format)
          expect(losses).toEqual([])
          const [before, after] = [validator(stored), accepts(schema, format)]
          for (const value of values) expect(after?.(value)).toBe(before?.(value))
        },
      ),
      { numRuns: 300 },
    )
  })
})
