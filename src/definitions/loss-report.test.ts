import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findStillThere, findUntold, type Json, label, valueAt } from '../../tests/support/missing-parts.ts'
import { LlmFormat, type LlmTool } from '../contract/llm.ts'
import { compileTool } from './compile-tool.ts'

const types = ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object']
const Name = fc.constantFrom('a', 'b', 'c', 'd e', 'n/1~')
const Value = fc.constantFrom<unknown>('x', 'y', '', 1, 2, 1.5, true, null)
const Bound = fc.integer({ min: 0, max: 5 })
const oneOrMore = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { minLength: 1, maxLength: 3 })

/** Every keyword of a draft that says something, and one that nobody knows. */
function keywordsOf(some: fc.Arbitrary<unknown>, isOlder: boolean): Record<string, fc.Arbitrary<unknown>> {
  const map = fc.dictionary(Name, some, { minKeys: 1, maxKeys: 3, noNullPrototype: true })
  const names = fc.uniqueArray(Name, { minLength: 1, maxLength: 2 })
  const bounds = `minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems minProperties
    maxProperties`
  const schemas = 'additionalProperties contains not if then else propertyNames'
  const both: Record<string, fc.Arbitrary<unknown>> = {
    ...Object.fromEntries(bounds.split(/\s+/).map((key) => [key, Bound])),
    ...Object.fromEntries(schemas.split(' ').map((key) => [key, some])),
    type: fc.oneof(
      fc.constantFrom(...types),
      fc.uniqueArray(fc.constantFrom(...types), { minLength: 1, maxLength: 3 }),
    ),
    enum: fc.uniqueArray(Value, { minLength: 1, maxLength: 3 }),
    const: Value,
    title: fc.constantFrom('one', 'two'),
    default: Value,
    examples: fc.array(Value, { minLength: 1, maxLength: 2 }),
    format: fc.constantFrom('uri', 'date-time', 'int32'),
    pattern: fc.constantFrom('^a', 'b$'),
    multipleOf: fc.constantFrom(2, 3),
    uniqueItems: fc.boolean(),
    readOnly: fc.constant(true),
    writeOnly: fc.constant(true),
    contentEncoding: fc.constant('base64'),
    contentMediaType: fc.constant('image/png'),
    required: names,
    properties: map,
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$'), some, { minKeys: 1, noNullPrototype: true }),
    anyOf: oneOrMore(some),
    oneOf: oneOrMore(some),
    allOf: oneOrMore(some),
    items: some,
    $ref: fc.constantFrom('#/$defs/one', '#/$defs/two', '#', '#/$defs/none', 'https://example.com/x'),
    $comment: fc.constant('c'),
    'x-own': fc.boolean(),
  }
  const older = {
    items: fc.oneof(some, oneOrMore(some)),
    additionalItems: some,
    dependencies: fc.dictionary(Name, fc.oneof(some, names), { minKeys: 1, maxKeys: 2, noNullPrototype: true }),
    $ref: fc.constantFrom('#/definitions/one', '#/definitions/two', '#', '#/definitions/none'),
  }
  const newer = {
    prefixItems: oneOrMore(some),
    dependentRequired: fc.dictionary(Name, names, { minKeys: 1, maxKeys: 2, noNullPrototype: true }),
    dependentSchemas: map,
    unevaluatedProperties: some,
    unevaluatedItems: some,
    minContains: Bound,
    maxContains: Bound,
    contentSchema: some,
    deprecated: fc.constant(true),
    $dynamicRef: fc.constant('#node'),
  }
  return { ...both, ...(isOlder ? older : newer) }
}

function schemasOf(isOlder: boolean): fc.Arbitrary<unknown> {
  return fc.letrec((tie) => {
    const keywords = keywordsOf(tie('schema'), isOlder)
    const few = fc
      .uniqueArray(fc.constantFrom(...Object.keys(keywords)), { maxLength: 4 })
      .chain((keys) => fc.record(Object.fromEntries(keys.map((key) => [key, keywords[key] as fc.Arbitrary<unknown>]))))
    const typed = fc.tuple(fc.constantFrom(...types), few).map(([type, rest]) => ({ type, ...rest }))
    return { schema: fc.oneof({ maxDepth: 3, depthSize: 'small' }, fc.boolean(), typed, few, typed) }
  }).schema
}

const Root = fc.boolean().chain((isOlder) => {
  const some = schemasOf(isOlder)
  const properties = fc.dictionary(Name, some, { maxKeys: 3, noNullPrototype: true })
  return fc.tuple(some, some, some, properties).map(([own, one, two, known]) => {
    const dialect = isOlder
      ? { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { one, two } }
      : { $defs: { one, two } }
    const base = typeof own === 'object' ? own : {}
    return label({ type: 'object', properties: known, ...base, ...dialect }) as Json
  })
})

const Hints = fc.record(
  { title: fc.constant('T'), readOnlyHint: fc.boolean(), 'x~/y': fc.constant(1) },
  { requiredKeys: [] },
)

function compile(inputSchema: Json, annotations: Json, format: LlmFormat) {
  const outputSchema = { type: ['object', 'null'], properties: {} }
  const tool: LlmTool = { id: 't', name: 't', description: 'd'.repeat(1500), inputSchema, outputSchema, annotations }
  return { tool, ...compileTool(tool, format) }
}

/** Whether a schema refers to itself without anything between, which no value can be held against. */
function isEndless(root: Json): boolean {
  const follow = (schema: unknown, entered: readonly unknown[]): boolean => {
    if (typeof schema !== 'object' || schema === null) return false
    if (entered.includes(schema)) return true
    const {
      $ref,
      anyOf,
      oneOf,
      allOf,
      not,
      if: test,
      then,
      else: other,
      dependencies,
      dependentSchemas,
    } = schema as Json
    const target = typeof $ref === 'string' ? valueAt(root, $ref.slice(1)) : undefined
    const inPlace = [
      target,
      not,
      test,
      then,
      other,
      ...[anyOf, oneOf, allOf, dependencies, dependentSchemas].flatMap((all) => Object.values(all ?? {})),
    ]
    return inPlace.some((part) => follow(part, [...entered, schema]))
  }
  return [root, ...Object.values(root.$defs ?? root.definitions ?? {})].some((schema) => follow(schema, []))
}

describe('the loss report', () => {
  it.each(LlmFormat.options)('lists every part that %s does not receive, and no other', (format) => {
    fc.assert(
      fc.property(Root, Hints, (schema, hints) => {
        fc.pre(!isEndless(schema))
        const { tool, definition, losses } = compile(schema, hints, format)
        for (const { pointer, lost } of losses) expect(valueAt(tool, pointer), `${pointer} ${lost}`).not.toBeUndefined()
        const inInput = losses
          .filter(({ pointer }) => /^\/inputSchema(\/|$)/.test(pointer))
          .map(({ pointer, lost }) => ({ pointer: pointer.slice('/inputSchema'.length), lost }))
        expect(findUntold(schema, definition, inInput)).toEqual([])
        expect(findStillThere(schema, definition, inInput)).toEqual([])
      }),
      { numRuns: Number(process.env.TOOLDEX_PROPERTY_RUNS ?? 400) },
    )
  })
})
