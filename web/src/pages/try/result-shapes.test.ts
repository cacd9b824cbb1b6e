import { expect, it } from 'vitest'
import { columnsOf, imagesOf, rowsOf } from './result-shapes.ts'

it('finds the rows of a list of objects, and of the only list in an object', () => {
  const rows = [{ a: 1 }, { b: 2, a: 3 }]
  expect(rowsOf(rows)).toBe(rows)
  expect(rowsOf({ total: 2, items: rows })).toBe(rows)
  expect(rowsOf({ items: rows, others: rows })).toBeUndefined()
  for (const other of [[], [1, {}], 'text', null, { items: [] }]) expect(rowsOf(other)).toBeUndefined()
  expect(columnsOf(rows)).toEqual(['a', 'b'])
})

it('finds images of known types only', () => {
  const png = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }
  expect(imagesOf({ content: [{ type: 'text', text: 'x' }, png] })).toEqual([png])
  expect(imagesOf([png])).toEqual([png])
  const svg = { type: 'image', mimeType: 'image/svg+xml', data: 'PHN2Zz4=' }
  const notBase64 = { ...png, data: 'javascript:alert(1)' }
  expect(imagesOf({ content: [svg, notBase64, null] })).toEqual([])
})
