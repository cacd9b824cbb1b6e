import { expect, it } from 'vitest'
import { categoriesAbove, readToggles, visibleRows, writeToggle } from './category-nodes.ts'

const counts = [
  { value: 'ops', count: 3, own: 1, parent: null },
  { value: 'net', count: 2, own: 1, parent: 'ops' },
  { value: 'other', count: 1, own: 1, parent: null },
  { value: 'dns', count: 1, own: 1, parent: 'net' },
  { value: 'lost', count: 1, own: 1, parent: 'not counted' },
]

it('shows the top, what is below opened categories, and a category without its parent at the top', () => {
  const rows = visibleRows(counts, (name) => name === 'ops')
  expect(rows.map(({ value, level, isOpen }) => [value, level, isOpen])).toEqual([
    ['ops', 1, true],
    ['net', 2, false],
    ['other', 1, undefined],
    ['lost', 1, undefined],
  ])
  expect(rows.map(({ position, siblings }) => [position, siblings])).toEqual([
    [1, 3],
    [1, 1],
    [2, 3],
    [3, 3],
  ])
})

it('knows the categories above one, also in a cycle', () => {
  expect([...categoriesAbove(counts, 'dns')]).toEqual(['net', 'ops'])
  const cycle = [
    { value: 'a', count: 1, own: 1, parent: 'b' },
    { value: 'b', count: 1, own: 1, parent: 'a' },
  ]
  expect([...categoriesAbove(cycle, 'a')]).toEqual(['b', 'a'])
})

it('keeps opened and closed categories in the URL, whatever their names', () => {
  const once = writeToggle(readToggles(undefined), 'a, +b', true)
  const twice = writeToggle(readToggles(once), 'c', false)
  expect([...readToggles(twice)]).toEqual([
    ['a, +b', true],
    ['c', false],
  ])
  expect([...readToggles(writeToggle(readToggles(twice), 'c', true))][1]).toEqual(['c', true])
  expect(readToggles('+\nnothing').size).toBe(0)
})
