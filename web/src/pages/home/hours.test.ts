import { expect, it } from 'vitest'
import { toSeries } from './hours.ts'

it('fills the hours without runs', () => {
  const hour = { from: '2026-01-01T01:00:00.000Z', runs: 4, failed: 1, p50Ms: 10, p95Ms: 90 }
  expect(toSeries('2026-01-01T00:00:00.000Z', 3, [hour])).toEqual({
    times: [0, 3600, 7200].map((seconds) => Date.parse('2026-01-01T00:00:00Z') / 1000 + seconds),
    runs: [0, 4, 0],
    failed: [0, 1, 0],
    p50Ms: [null, 10, null],
    p95Ms: [null, 90, null],
  })
})
