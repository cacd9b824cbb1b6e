import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sameJson } from '../base/json-values.ts'
import { diffJson } from './diff-json.ts'

describe('diffJson', () => {
  it('names each place in which two values differ', () => {
    const before = { a: [1, 2, { x: 'y' }], b: null, 'c/d': 1 }
    const after = { a: [1, 3, { x: 'z' }, 4], 'c/d': 2 }
    expect(diffJson(before, after, 10)).toEqual([
      { pointer: '/b', before: null },
      { pointer: '/c~1d', before: 1, after: 2 },
      { pointer: '/a/1', before: 2, after: 3 },
      { pointer: '/a/3', after: 4 },
      { pointer: '/a/2/x', before: 'y', after: 'z' },
    ])
    expect(diffJson(before, after, 2)).toHaveLength(2)
    expect(diffJson('a', ['a'], 5)).toEqual([{ pointer: '', before: 'a', after: ['a'] }])
  })

  it('finds something exactly where two values are not the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
        expect(diffJson(before, after, 5).length === 0).toBe(sameJson(before, after))
        expect(diffJson(before, before, 5)).toEqual([])
      }),
    )
  })
})
