import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import wabt from 'wabt'
import { compiledDotProducts, createDotProducts } from './dot-products.ts'

describe('dot products', () => {
  it('are compiled from their source', async () => {
    const source = readFileSync(new URL('./dot-products.wat', import.meta.url), 'utf8')
    const { buffer } = (await wabt()).parseWat('dot-products.wat', source, { simd: true }).toBinary({})
    expect(Buffer.from(buffer).equals(compiledDotProducts())).toBe(true)
  })

  it('are what a plain loop gives', () => {
    const row = fc.array(fc.integer({ min: -127, max: 127 }), { minLength: 32, maxLength: 32 })
    const query = fc.array(fc.integer({ min: -8192, max: 8192 }), { minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(query, fc.array(row, { minLength: 1, maxLength: 9 }), (vector, rows) => {
        const { memory, dot } = createDotProducts()
        new Int16Array(memory.buffer, 0, 32).set(vector)
        new Int8Array(memory.buffer, 64, rows.length * 32).set(rows.flat())
        dot(0, 64, 4096, rows.length, 32)
        const expected = rows.map((cells) => cells.reduce((sum, cell, index) => sum + cell * (vector[index] ?? 0), 0))
        expect([...new Int32Array(memory.buffer, 4096, rows.length)]).toEqual(expected)
      }),
    )
  })
})
