import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkSchema, compileSchema } from './index.ts'
import { keywords } from './keywords.ts'

const drafts = [
  { name: 'draft-07', uri: 'http://json-schema.org/draft-07/schema#' },
  { name: '2020-12', uri: 'https://json-schema.org/draft/2020-12/schema' },
] as const
type Draft = (typeof drafts)[number]

const names = fc.constantFrom('a', 'b', 'c')
// As it comes from a text: ajv is at a loss with objects that have no prototype.
const json = fc.jsonValue({ maxDepth: 3 }).map((each) => JSON.parse(JSON.stringify(each)) as typeof each)
const value = fc.oneof(
  json,
  fc.dictionary(names, json, { noNullPrototype: true }),
  fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }),
)

// Ajv's own comparison calls what a value has under these names.
// Ajv stumbles over such keys, and takes a whole number that is written with an exponent for a fraction.
const refusedByAjv = /"(toString|valueOf|constructor|__proto__)"|\de\+/
const harmless = value.filter((each) => !refusedByAjv.test(JSON.stringify(each)))

/** An object with a few of the properties. */
function few(choices: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  const pick = fc.subarray(Object.keys(choices), { minLength: 1, maxLength: 4 })
  return pick.chain((words) =>
    fc.record(Object.fromEntries(words.map((word) => [word, choices[word] ?? fc.constant(0)]))),
  )
}

/** Schemas that are right by shape, of the keywords whose meaning the two drafts might not share. */
function schemas(draft: Draft, depth = 2): fc.Arbitrary<unknown> {
  const count = fc.integer({ min: 0, max: 3 })
  const simple = {
    type: fc.constantFrom(
      'string',
      'number',
      'integer',
      'object',
      'array',
      'null',
      ['string', 'null'],
      ['object', 'array'],
    ),
    enum: fc.uniqueArray(fc.constantFrom(0, 1, 'a', null, true), { minLength: 1 }),
    const: fc.constantFrom(0, 'a', null, [], {}),
    minimum: count,
    exclusiveMaximum: count,
    multipleOf: fc.constantFrom(1, 2, 3),
    minLength: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    minProperties: count,
    required: fc.uniqueArray(names),
  }
  if (depth === 0) return fc.oneof(fc.boolean(), fc.record(simple, { requiredKeys: [] }))
  const inner = schemas(draft, depth - 1)
  const list = fc.array(inner, { minLength: 1, maxLength: 3 })
  const map = fc.dictionary(names, inner)
  const shared = {
    properties: map,
    additionalProperties: inner,
    propertyNames: inner,
    contains: inner,
    not: inner,
    if: inner,
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
    then: inner,
    else: inner,
    allOf: list,
    anyOf: list,
    oneOf: list,
  }
  const own =
    draft.name === 'draft-07'
      ? {
          items: fc.oneof(inner, list),
          additionalItems: inner,
          dependencies: fc.dictionary(names, fc.oneof(inner, fc.uniqueArray(names))),
        }
      : {
          items: inner,
          prefixItems: list,
          dependentRequired: fc.dictionary(names, fc.uniqueArray(names)),
          dependentSchemas: map,
          minContains: count,
          unevaluatedProperties: inner,
          unevaluatedItems: inner,
        }
  return fc.oneof(
    { weight: 1, arbitrary: inner },
    {
      weight: 3,
      arbitrary: few({ ...simple, ...shared, ...own }),
    },
  )
}

const plain = (draft: Draft) => {
  const options = { strict: false, logger: false, ownProperties: true } as const
  return draft.name === 'draft-07' ? new Ajv(options) : new Ajv2020(options)
}

const withDraft = (schema: unknown, draft: Draft): unknown =>
  typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? { ...schema, $schema: draft.uri } : schema

describe.each(drafts)('JSON Schema $name', (draft) => {
  it('accepts and refuses the values that the draft does', () => {
    const oracle = plain(draft)
    fc.assert(
      fc.property(schemas(draft), fc.array(harmless, { minLength: 5, maxLength: 5 }), (bare, values) => {
        const schema = withDraft(bare, draft)
        expect(checkSchema(schema, '')).toEqual([])
        const ours = compileSchema(schema)
        const theirs = oracle.compile(schema as object)
        for (const each of values) expect(ours.validate(each).problems.length === 0).toBe(theirs(each))
      }),
      { numRuns: 100, interruptAfterTimeLimit: 5000 },
    )
  })

  it('accepts and refuses the schemas that the draft does', () => {
    // Names of other schemas are ours to be stricter about, and texts that must compile are tested by themselves.
    const skipped = /^(\$.*|pattern|patternProperties|deprecated|dependencies|writeOnly|enum)$/
    const words = [...keywords[draft.name].keys()].filter((word) => !skipped.test(word))
    const odd = fc.oneof(
      json,
      fc.constantFrom({}, [], true, 'string', ['a'], -1, 0, 2),
      fc.array(names),
      schemas(draft, 0),
    )
    const schema = fc.dictionary(fc.constantFrom(...words), odd, { maxKeys: 3 })
    const ajv = plain(draft)
    fc.assert(
      fc.property(schema, (bare) => {
        const each = withDraft(bare, draft)
        const right = ajv.validateSchema(each as object)
        expect([checkSchema(each, '').length === 0, bare]).toEqual([right, bare])
      }),
      { numRuns: 500 },
    )
  })

  it('never throws, whatever the schema and the value', () => {
    const words = [
      ...keywords[draft.name].keys(),
      'nullable',
      '$async',
      'id',
      '__proto__',
      'spendStep',
      'discriminator',
    ]
    const odd: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
      schema: fc.dictionary(fc.constantFrom(...words), tie('part'), { maxKeys: 4 }),
      part: fc.oneof(
        { maxDepth: 4 },
        json,
        fc.constantFrom('#', '#/not', '#/$defs/a', '#a', 'object', '^(a+)+$', '[', '', -1, 2, true, null),
        tie('schema'),
        fc.array(tie('schema'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'constructor', '__proto__', ''), tie('schema')),
      ),
    })).schema
    let compiled = 0
    fc.assert(
      fc.property(odd, fc.oneof(value, fc.anything()), (bare, each) => {
        const schema = withDraft(bare, draft)
        if (checkSchema(schema, '').length > 0) return
        compiled++
        const before = JSON.stringify(schema)
        expect(Array.isArray(compileSchema(schema).validate(each).problems)).toBe(true)
        expect(JSON.stringify(schema)).toBe(before)
      }),
      { numRuns: 500 },
    )
    expect(compiled).toBeGreaterThan(20)
  })
})
