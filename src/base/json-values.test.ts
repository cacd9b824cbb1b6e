import { expect, it } from 'vitest'
import { hashJson } from './json-text.ts'
import { sameJson, sameOrderedJson } from './json-values.ts'

it('compares JSON whatever the order of keys', () => {
  expect(sameJson({ a: 1, b: { c: [1, 2], d: null } }, { b: { d: null, c: [1, 2] }, a: 1 })).toBe(true)
  expect(sameJson({ a: undefined }, {})).toBe(true)
  expect(sameJson({ a: null }, {})).toBe(false)
  expect(sameJson([1, 2], [2, 1])).toBe(false)
  expect(sameJson({ a: 1 }, [1])).toBe(false)
  expect(sameJson(JSON.parse('{"__proto__":1}'), {})).toBe(false)
})

it('takes any depth', () => {
  const deep = () => JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown
  expect(sameJson(deep(), deep())).toBe(true)
})

it('compares JSON with the order of keys', () => {
  expect(sameOrderedJson({ a: 1, b: [{ c: 1, d: 2 }] }, { a: 1, b: [{ c: 1, d: 2 }] })).toBe(true)
  expect(sameOrderedJson({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(false)
  expect(sameOrderedJson([{ c: 1, d: 2 }], [{ d: 2, c: 1 }])).toBe(false)
  expect(sameOrderedJson({ a: undefined, b: 1 }, { b: 1 })).toBe(true)
})

it('hashes JSON whatever the order of keys', () => {
  expect(hashJson({ a: 1, b: [{ c: 1, d: 2 }] })).toBe(hashJson({ b: [{ d: 2, c: 1 }], a: 1 }))
  expect(hashJson({ a: 1 })).not.toBe(hashJson({ a: 2 }))
  expect(hashJson([1, 2])).not.toBe(hashJson([2, 1]))
})
