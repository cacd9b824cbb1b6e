import { expect, it } from 'vitest'
import { pagesBetween } from './pages-between.ts'

it('returns the pages around the visible items, and none beyond the end', () => {
  const paging = { pageSize: 50, total: 120 }
  expect(pagesBetween([0, 10], paging)).toEqual([0])
  expect(pagesBetween([45, 55], paging)).toEqual([0, 1])
  expect(pagesBetween([99, 400], paging)).toEqual([1, 2])
  expect(pagesBetween([130, 140], paging)).toEqual([])
  expect(pagesBetween([0, 0], { pageSize: 50, total: 0 })).toEqual([])
})
