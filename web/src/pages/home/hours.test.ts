import { expect, it } from 'vitest'
import { toSeries } from './hours.ts'

const begin = Date.parse('2026-01-01T00:00:00Z')

it('fills the spans without runs until now', () => {
  const span = { from: '2026-01-01T06:00:00.000Z', runs: 4, failed: 1, p50Ms: 10, p95Ms: 90 }
  expect(toSeries('2026-01-01T00:00:00.000Z', [span], 6, begin + 13 * 3_600_000)).toEqual({
    times: [0, 6, 12].map((hours) => begin / 1000 + hours * 3600),
    runs: [0, 4, 0],
    failed: [0, 1, 0],
    p50Ms: [null, 10, null],
    p95Ms: [null, 90, null],
  })
})

it('keeps a span that the clock of the server has begun and that of the browser has not', () => {
  const span = { from: '2026-01-01T01:00:00.000Z', runs: 1, failed: 0, p50Ms: 1, p95Ms: 1 }
  expect(toSeries('2026-01-01T00:00:00.000Z', [span], 1, begin).runs).toEqual([0, 1])
})
