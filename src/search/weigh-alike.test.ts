import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { weighAlike } from './past-queries.ts'

describe('weighAlike', () => {
  it('gives one that is alone its likeness, less the noise', () => {
    expect(weighAlike(Float64Array.of(1), [1], 1)[0]).toBeCloseTo(0.5)
  })

  it('splits the weight between equal tools, and leaves unrelated tools unchanged', () => {
    const matrix = Float64Array.of(1, 1, 0, 1, 1, 0, 0, 0, 1)
    const [first, second, other] = weighAlike(matrix, [1, 1, 1], 1)
    expect(first).toBeCloseTo(1 / 3)
    expect(second).toBeCloseTo(1 / 3)
    expect(other).toBeCloseTo(0.5)
  })

  it('solves the equations where no weight has to be left out', () => {
    const near = fc.double({ min: 0, max: 0.1, noNaN: true })
    fc.assert(
      fc.property(near, near, near, (a, b, c) => {
        const matrix = Float64Array.of(1, a, b, a, 1, c, b, c, 1)
        const weights = weighAlike(matrix, [1, 0.9, 0.8], 1)
        for (const [row, likeness] of [1, 0.9, 0.8].entries()) {
          const sum = weights.reduce((total, weight, at) => total + weight * (matrix[row * 3 + at] as number), 0)
          expect(sum + (weights[row] as number)).toBeCloseTo(likeness)
        }
      }),
    )
  })

  it('has nothing to weigh where there is nothing', () => {
    expect(weighAlike(new Float64Array(0), [], 1)).toEqual([])
  })
})
