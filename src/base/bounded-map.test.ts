import { expect, it } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

it('evicts the entry that was set or taken least recently', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ])
  expect(map.take('a', () => 9)).toBe(3)
  expect(map.take('d', () => 5)).toBe(5)
  expect([...map.keys()]).toEqual(['a', 'd'])
})
