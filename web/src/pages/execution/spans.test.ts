import { expect, it } from 'vitest'
import { spansOf } from './spans.ts'

const at = (ms: number) => new Date(1_000_000 + ms).toISOString()
const run = {
  id: 'a',
  toolName: 'p',
  status: 'SUCCESS',
  reason: null,
  createdAt: at(0),
  startedAt: at(100),
  completedAt: at(1000),
}

it('puts the wait, the work and the calls of a program on one scale', () => {
  const child = {
    ...run,
    id: 'b',
    toolName: 'c',
    status: 'FAILED',
    createdAt: at(200),
    startedAt: at(250),
    completedAt: at(500),
  }
  const { spans, totalMs } = spansOf(run, [child])
  expect(totalMs).toBe(1000)
  expect(spans.map(({ id, kind, start, end, ms }) => [id, kind, start, end, ms])).toEqual([
    ['wait', 'wait', 0, 0.1, 100],
    ['run', 'ok', 0.1, 1, 900],
    ['b', 'bad', 0.25, 0.5, 250],
  ])
})

it('ends the scale of an open run now, also where the clocks differ', () => {
  const open = { ...run, status: 'PENDING', startedAt: null, completedAt: null }
  expect(spansOf(open, [], 1_000_600)).toMatchObject({ totalMs: 600, spans: [{ id: 'wait', start: 0, end: 1 }] })
  expect(spansOf(open, [], 0).spans[0]).toMatchObject({ start: 0, end: 0, ms: 0 })
})
