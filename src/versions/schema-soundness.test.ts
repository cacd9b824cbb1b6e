import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { JsonObject } from '../base/json-values.ts'
import { diffSchemas } from './diff-schemas.ts'

const names = ['a', 'b', 'c'] as const
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 2 })
const small = fc.integer({ min: 0, max: 4 })
const types = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']
const scalar = fc.oneof(fc.constantFrom<unknown>('', 'x', 'xyz', true, null, 0.5), small)

/** JSON Schemas of the keywords that are compared one by one; `undefined` keys are left out. */
const { schema, leaf, list, object, any } = fc.letrec<{
  schema: JsonObject | boolean
  leaf: JsonObject
  object: JsonObject
  list: JsonObject
  any: JsonObject
}>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    tie('object'),
    tie('list'),
    tie('any'),
    fc.boolean(),
    fc.constant({ $ref: '#/$defs/shared' }),
  ),
  leaf: keywords({
    type: fc.oneof(
      fc.constantFrom(...types),
      fc.uniqueArray(fc.constantFrom(...types), { minLength: 1, maxLength: 3 }),
    ),
    enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }),
    const: scalar,
    minimum: small,
    exclusiveMaximum: small,
    multipleOf: fc.constantFrom(1, 2, 3, 4),
    minLength: small,
    maxLength: small,
    pattern: fc.constantFrom('x', '^$'),
  }),
  object: keywords({
    type: fc.constant('object'),
    properties: fc.dictionary(fc.constantFrom(...names), tie('schema'), { maxKeys: 3 }),
    required: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 }),
    additionalProperties: tie('schema'),
    minProperties: fc.constantFrom(0, 1),
  }),
  list: keywords({
    type: fc.constant('array'),
    items: tie('schema'),
    prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
    maxItems: small,
    uniqueItems: fc.boolean(),
  }),
  any: fc.oneof(
    ...['anyOf', 'oneOf', 'allOf'].map((name) =>
      fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((members) => ({ [name]: members })),
    ),
    tie('schema').map((not) => ({ not })),
  ),
}))

function keywords(model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> {
  const some = Object.fromEntries(Object.entries(model).map(([name, of]) => [name, optional(of)]))
  return fc.record(some).map((found) => JSON.parse(JSON.stringify(found)))
}

/** Two schemas of one kind, so that they often differ in what one keyword says. */
const alike = fc.oneof(...[leaf, list, object, any].map((kind) => fc.tuple(kind, kind)))

/** A schema and another of its kind, or one that differs from it in a place or two. */
const pair = fc
  .record({ alike, before: schema, other: schema, shared: alike, seed: fc.nat(), how: fc.nat(3) })
  .map(({ alike: [one, two], before, other, shared, seed, how }) => {
    const [from, to] =
      how < 2 ? [one, how === 0 ? two : takeOver(one, two, seed)] : [before, replaceOne(before, other, seed)]
    return [document(from, shared[0]), document(to, shared[how % 2])] as const
  })

/** The first schema with one keyword of the second. */
function takeOver(one: JsonObject, two: JsonObject, seed: number): JsonObject {
  const keys = Object.keys(two)
  const key = keys[seed % Math.max(1, keys.length)]
  return key === undefined ? one : { ...one, [key]: two[key] }
}

const document = (schema: unknown, shared: unknown): JsonObject => ({
  ...(typeof schema === 'boolean' ? { allOf: [schema] } : (schema as JsonObject)),
  $defs: { shared: isSelf(shared) ? true : shared },
})
const isSelf = (value: unknown) => JSON.stringify(value).includes('$ref')

/** Puts another keyword or schema where the seed points. */
function replaceOne(schema: unknown, other: unknown, seed: number): unknown {
  if (typeof schema !== 'object' || schema === null || seed % 3 === 0) {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema) || typeof other !== 'object')
      return other
    return { ...schema, ...(other as JsonObject) }
  }
  const copy = structuredClone(schema) as Record<string, unknown>
  const keys = Object.keys(copy)
  const key = keys[seed % keys.length]
  if (key === undefined) return other
  const inner = copy[key]
  if (typeof inner === 'object' && inner !== null && !['enum', 'required', 'type'].includes(key)) {
    if (Array.isArray(inner) || key === 'properties') {
      const slots = inner as Record<string, unknown>
      const slot = Object.keys(slots)[seed % Math.max(1, Object.keys(slots).length)]
      if (slot !== undefined) slots[slot] = replaceOne(slots[slot], other, Math.floor(seed / 3))
    } else copy[key] = replaceOne(inner, other, Math.floor(seed / 3))
  } else delete copy[key]
  return copy
}

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

const compile = (schema: JsonObject) => new Ajv2020({ strict: false, validateSchema: false }).compile(schema)

const plain = ['type', 'enum', 'const', 'required', 'pattern', 'uniqueItems', '$ref']

/** Arguments that a schema does not name have no meaning yet, so objects that take any name must name all for the claim. */
function nameAll(schema: unknown): unknown {
  if (schema === true) return nameAll({})
  if (Array.isArray(schema)) return schema.map(nameAll)
  if (typeof schema !== 'object' || schema === null) return schema
  const inside = (key: string, part: unknown) => {
    if (plain.includes(key)) return part
    return key === 'properties' || key === '$defs' ? mapParts(part as JsonObject, nameAll) : nameAll(part)
  }
  const node = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, inside(key, part)]))
  const { additionalProperties: others } = schema as JsonObject
  if ('$ref' in node || !(others === undefined || others === true)) return node
  const { additionalProperties: _, ...rest } = node
  return { ...rest, properties: { a: {}, b: {}, c: {}, ...(node.properties as JsonObject) } }
}

const mapParts = (parts: JsonObject, change: (part: unknown) => unknown) =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part)]))

const runs = 1500

it.each(['input', 'output'] as const)('never calls harmless what takes values away from the caller: %s', (side) => {
  const told = { harmless: 0, values: 0 }
  fc.assert(
    fc.property(pair, fc.array(value, { minLength: 20, maxLength: 20 }), ([a, b], values) => {
      const [before, after] = [nameAll(a), nameAll(b)] as [JsonObject, JsonObject]
      const changes = diffSchemas(before, after, side)
      if (changes.some((change) => change.class === 'breaking')) return
      if (changes.length > 0) told.harmless++
      const [given, wanted] = side === 'input' ? [before, after] : [after, before]
      const [isGiven, isWanted] = [compile(given), compile(wanted)]
      for (const one of values.filter((candidate) => isGiven(candidate))) {
        told.values++
        expect(isWanted(one), `${JSON.stringify(one)} under ${JSON.stringify({ before, after, changes })}`).toBe(true)
      }
    }),
    { numRuns: runs },
  )
  // The claim would be empty if everything were breaking.
  expect(told.harmless).toBeGreaterThan(runs / 20)
  expect(told.values).toBeGreaterThan(runs / 4)
})

it('never throws and soon ends, whatever it is given', () => {
  const word = fc.constantFrom(
    'type',
    '$ref',
    'properties',
    'items',
    'anyOf',
    'oneOf',
    'allOf',
    'not',
    'required',
    '$id',
  )
  const { junk } = fc.letrec((tie) => ({
    junk: fc.oneof(
      { depthSize: 'medium' },
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom('#', '#/properties/a', '#/anyOf/0', '#/%zz', 'object'),
      fc.array(tie('junk'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(word, fc.constantFrom('a', '__proto__', 'constructor')), tie('junk'), { maxKeys: 4 }),
    ),
  }))
  const garbage = fc.dictionary(word, junk, { maxKeys: 5 }) as fc.Arbitrary<JsonObject>
  fc.assert(
    fc.property(garbage, garbage, (before, after) => {
      diffSchemas(before, after, 'input')
      expect(diffSchemas(before, structuredClone(before), 'output')).toEqual([])
    }),
    { numRuns: 1000 },
  )
})

it('gives up on schemas made to take for ever, and calls that breaking', () => {
  const maze = (leaf: string) => {
    const defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => {
        const next = { $ref: `#/$defs/d${(index + 1) % 40}` }
        return [`d${index}`, { anyOf: [{ items: next }, { properties: { a: next, b: next } }, { type: leaf }] }]
      }),
    )
    return { $ref: '#/$defs/d0', $defs: defs }
  }
  expect(diffSchemas(maze('string'), maze('number'), 'input').some((change) => change.class === 'breaking')).toBe(true)
})
