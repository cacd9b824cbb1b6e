import { expect, it } from 'vitest'
import { formatAge, formatDuration } from './format-time.ts'

it('formats durations with one unit', () => {
  expect([0, 999.6, 3210, 59_999, 240_000, 7_200_000, 180_000_000].map((ms) => formatDuration(ms))).toEqual([
    '0 ms',
    '1000 ms',
    '3.2 s',
    '60.0 s',
    '4 min',
    '2 h',
    '2 d',
  ])
})

it('formats times by their distance from now', () => {
  const now = Date.parse('2026-01-31T12:00:00Z')
  const at = (ms: number) => formatAge(new Date(now + ms).toISOString(), now)
  expect([at(0), at(-4500), at(-240_000), at(7_200_000)]).toEqual(['now', '4 s ago', '4 min ago', 'in 2 h'])
})
