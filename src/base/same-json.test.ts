import { expect, it } from 'vitest'
import { sameJson } from './same-json.ts'

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
