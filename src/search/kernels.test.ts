import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VectorTable } from './vector-table.ts'

describe('kernels', () => {
  it('are compiled from their sources', () => {
    const script = fileURLToPath(new URL('../../scripts/compile-kernels.mjs', import.meta.url))
    execFileSync(process.execPath, [script, '--check'])
  })

  it('multiply as a plain loop does', () => {
    const row = fc.array(fc.integer({ min: -127, max: 127 }), { minLength: 40, maxLength: 40 })
    const query = fc.array(fc.integer({ min: -8192, max: 8192 }), { minLength: 40, maxLength: 40 })
    fc.assert(
      fc.property(query, fc.array(row, { minLength: 1, maxLength: 9 }), (vector, rows) => {
        const table = new VectorTable(40)
        for (const [index, cells] of rows.entries())
          table.set(
            index,
            Float32Array.from(cells, (cell) => cell / 127),
          )
        const products = table.products(Float32Array.from(vector, (cell) => cell / 8192))
        const expected = rows.map((cells) => cells.reduce((sum, cell, index) => sum + cell * (vector[index] ?? 0), 0))
        expect([...products]).toEqual(expected)
      }),
    )
  })

  it('find the highest product of more queries and rows than one call takes', () => {
    // Few different numbers, so that equal products are common.
    const cells = fc.array(fc.integer({ min: -1, max: 1 }), { minLength: 8, maxLength: 8 })
    const several = fc.array(cells, { maxLength: 9 })
    fc.assert(
      fc.property(several, fc.array(cells, { minLength: 1, maxLength: 9 }), fc.nat(520), (queries, kinds, first) => {
        const vectors = queries.map((query) => Float32Array.from(query))
        const table = new VectorTable(8)
        // Rows outside of the range are longer, so that one of them would be the highest.
        const isIn = (row: number) => row >= first && row < 1090
        for (let row = 0; row < 1100; row++) {
          const kind = kinds[(row * row) % kinds.length] ?? []
          table.set(
            row,
            Float32Array.from(kind, (cell) => (isIn(row) ? cell / 2 : cell)),
          )
        }
        const expected = vectors.map((vector) => {
          const products = [...table.products(vector)].map((product, row) => (isIn(row) ? product : 0))
          const product = Math.max(0, ...products)
          return { product, position: product === 0 ? -1 : products.indexOf(product) }
        })
        expect(table.highest(vectors, first, 1090)).toEqual(expected)
      }),
      { numRuns: 30 },
    )
  })
})
