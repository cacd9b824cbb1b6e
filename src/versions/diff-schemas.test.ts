import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../base/json-values.ts'
import type { Side } from './comparison.ts'
import { diffSchemas } from './diff-schemas.ts'

const tell = (before: JsonObject, after: JsonObject, side: Side = 'input') =>
  diffSchemas(before, after, side).map((change) => `${change.class}: ${change.message}`)
const withZone = (zone: unknown, rest: JsonObject = {}) => ({ type: 'object', properties: { zone }, ...rest })
const zoneTells = (before: unknown, after: unknown, side: Side = 'input') =>
  tell(withZone(before), withZone(after), side)

describe('diffSchemas', () => {
  it('reports properties that become required without a default', () => {
    const before = { properties: { region: { type: 'string' } } }
    expect(tell(before, { ...before, required: ['region'] })).toEqual([
      "breaking: the parameter 'region' is now required",
    ])
    const filled = { properties: { region: { type: 'string', default: 'eu' } }, required: ['region'] }
    expect(tell(before, filled).every((line) => line.startsWith('compatible'))).toBe(true)
    expect(tell({ properties: { at: before } }, { properties: { at: filled } })).toContain(
      "breaking: the property 'at.region' is now required",
    )
    expect(tell({ ...before, required: ['region'] }, before, 'output')).toEqual([
      "breaking: the property 'region' is no longer required",
    ])
  })

  it('reports added and removed properties', () => {
    expect(tell(withZone({}), { type: 'object' })).toEqual(["breaking: the parameter 'zone' was removed"])
    expect(tell(withZone({}), { type: 'object' }, 'output')).toEqual(["breaking: the property 'zone' was removed"])
    expect(tell({ type: 'object' }, withZone({ type: 'string' }))).toEqual(["compatible: the parameter 'zone' is new"])
    expect(tell({ type: 'object' }, withZone({}), 'output')).toEqual(["compatible: the property 'zone' is new"])
    const closed = { type: 'object', additionalProperties: false }
    expect(tell(closed, { ...closed, properties: { zone: {} } }, 'output')).toEqual([
      "breaking: the property 'zone' is new",
    ])
    expect(tell({ additionalProperties: { type: 'number' } }, { properties: { zone: { type: 'string' } } })).toContain(
      "breaking: 'zone' is string instead of number",
    )
    expect(tell({ type: 'object' }, closed)).toEqual(['breaking: the input no longer allows unnamed properties'])
  })

  it('reports limits and values', () => {
    expect(zoneTells({ maximum: 100 }, { maximum: 50 })).toEqual(["breaking: 'zone' allows at most 50 instead of 100"])
    expect(zoneTells({ minLength: 2 }, { minLength: 1 })).toEqual([
      "compatible: 'zone' allows at least 1 characters instead of 2",
    ])
    expect(zoneTells({ minimum: 1 }, { exclusiveMinimum: 1 })).toEqual([
      "breaking: 'zone' allows more than 1 instead of at least 1",
    ])
    expect(zoneTells({ multipleOf: 4 }, { multipleOf: 2 })[0]).toContain('compatible')
    expect(zoneTells({ multipleOf: 4 }, { multipleOf: 3 })[0]).toContain('breaking')
    expect(zoneTells({ enum: ['eu', 'us'] }, { enum: ['us', 'ap'] })).toEqual([
      "breaking: the value 'eu' of 'zone' is no longer allowed",
      "compatible: the value 'ap' of 'zone' is allowed now",
    ])
    expect(zoneTells({}, { pattern: '^a' })).toEqual(["breaking: the condition 'pattern' of 'zone' is new"])
    expect(zoneTells({ type: 'string' }, { type: ['string', 'integer'], minimum: 3 })).toEqual([
      "compatible: 'zone' is integer or string instead of string",
    ])
  })

  it('takes a changed default for breaking in the input, and for words in the output', () => {
    expect(zoneTells({ default: 1 }, { default: 2 })).toEqual(["breaking: 'zone' is 2 by default instead of 1"])
    expect(zoneTells({ default: 1 }, { default: 2 }, 'output')).toEqual([
      "wording: 'zone' is 2 by default instead of 1",
    ])
    expect(zoneTells({}, { default: 2 })).toEqual(["compatible: 'zone' is 2 if it is omitted"])
  })

  it('reports descriptions', () => {
    expect(zoneTells({ title: 'a', 'x-order': 1 }, { title: 'b' }).map((line) => line.split(':')[0])).toEqual([
      'wording',
      'wording',
    ])
    const inside = (description: string) => ({ anyOf: [{ type: 'string', description }, { type: 'null' }] })
    expect(zoneTells(inside('a'), inside('b'))).toEqual(["wording: the description of 'zone' changed"])
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['the order of keys', { type: 'string', minLength: 1 }, { minLength: 1, type: 'string' }],
    ['the order of types', { type: ['string', 'null'] }, { type: ['null', 'string'] }],
    ['one value', { const: 'a' }, { type: 'string', enum: ['a'] }],
    ['where definitions stand', ref('definitions', { type: 'string' }), ref('$defs', { type: 'string' })],
    ['a reference and its target', ref('$defs', { type: 'string' }), withZone({ type: 'string' })],
    ['true', withZone(true), withZone({})],
    ['lists by position', { items: [{ type: 'string' }], additionalItems: false }, tuple()],
    ['the order of alternatives', any({ type: 'string' }, { type: 'null' }), any({ type: 'null' }, { type: 'string' })],
    [
      'exclusive alternatives',
      { oneOf: [{ type: 'string' }, { type: 'null' }] },
      any({ type: 'string' }, { type: 'null' }),
    ],
    ['recursion', tree('a', { type: 'string' }), tree('b', { type: 'string' })],
  ])('sees no change in another spelling: %s', (_, before, after) => {
    expect(tell(before, after)).toEqual([])
    expect(tell(after, before, 'output')).toEqual([])
  })

  it('follows references, and ends where they recur', () => {
    expect(tell(tree('a', { type: 'string' }), tree('b', { type: 'number' }))).toEqual([
      "breaking: 'name' is number instead of string",
      "compatible: 'name' is number instead of string",
    ])
  })

  it('reports where schemas could not be compared', () => {
    const [before, after] = [{ not: { type: 'string' } }, { not: { type: 'null' } }]
    expect(zoneTells(before, after)).toEqual([
      "breaking: the condition 'not' of 'zone' changed and could not be compared",
    ])
    expect(zoneTells({ $ref: '#/nowhere' }, { type: 'string' })[0]).toMatch(/^breaking: 'zone' could not be compared/)
    const overlapping = (least: number) => ({ oneOf: [{ minimum: least }, { multipleOf: 2 }] })
    expect(zoneTells(overlapping(1), overlapping(0))[0]).toMatch(/^breaking.*could not be compared/)
  })

  it('does not trust equal words whose reference changed under not', () => {
    const schema = (type: unknown) => ({ not: { $ref: '#/$defs/a' }, $defs: { a: { type } } })
    expect(tell(schema('string'), schema(['string', 'null']))[0]).toMatch(/^breaking/)
    const named = (type: unknown) => ({ patternProperties: { a: { type } } })
    expect(tell(named('string'), named('null'))[0]).toMatch(/^breaking/)
  })

  it('compares alternatives', () => {
    expect(zoneTells({ type: 'string' }, any({ type: 'string' }, { type: 'null' }))[0]).toMatch(/^compatible/)
    expect(zoneTells(any({ type: 'string' }, { type: 'null' }), { type: 'string' })[0]).toMatch(/^breaking/)
    expect(zoneTells(any({ type: 'string' }), any({ minLength: 3, type: 'string' }))).toEqual([
      "breaking: 'zone' allows at least 3 characters now",
    ])
    expect(zoneTells({ allOf: [{ minimum: 1 }] }, { allOf: [{ minimum: 1 }, { maximum: 3 }] })).toEqual([
      "breaking: 'zone' must meet an additional condition",
    ])
  })

  it('points to the place', () => {
    const change = diffSchemas(
      withZone({ items: { type: 'string' } }),
      withZone({ items: { type: 'null' } }),
      'input',
    )[0]
    expect(change?.pointer).toBe('/properties/zone/items/type')
  })
})

function ref(home: string, target: JsonObject): JsonObject {
  return { ...withZone({ $ref: `#/${home}/a~1b` }), [home]: { 'a/b': target } }
}

function tuple(): JsonObject {
  return { prefixItems: [{ type: 'string' }], items: false }
}

function any(...anyOf: JsonObject[]): JsonObject {
  return { anyOf }
}

function tree(name: string, leaf: JsonObject): JsonObject {
  const self = { $ref: `#/$defs/${name}` }
  const node = { type: 'object', properties: { name: leaf, children: { type: 'array', items: self } } }
  return { ...self, $defs: { [name]: node } }
}
