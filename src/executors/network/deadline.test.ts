import { getEventListeners, once } from 'node:events'
import { expect, it } from 'vitest'
import { Deadline } from './run-remote.ts'

it('is aborted when its time is over, on the deadline and on its signal', async () => {
  const deadline = new Deadline(undefined, 20)
  const { signal } = deadline
  expect([deadline.aborted, signal.aborted]).toEqual([false, false])
  await once(deadline, 'abort')
  expect([deadline.isOver, deadline.aborted, signal.aborted]).toEqual([true, true, true])
  expect([deadline.reason, signal.reason]).toEqual(Array(2).fill(expect.objectContaining({ name: 'TimeoutError' })))
})

it('is aborted once by an outer signal, with its reason, even if that was aborted before', () => {
  const outer = new AbortController()
  const deadline = new Deadline(outer.signal, 60_000)
  let heard = 0
  deadline.on('abort', () => heard++)
  outer.abort('enough')
  for (const each of [deadline, new Deadline(outer.signal, 60_000)]) {
    expect([each.aborted, each.isOver, each.reason, each.signal.reason]).toEqual([true, false, 'enough', 'enough'])
    each.release()
  }
  expect(heard).toBe(1)
})

it('releases the outer signal and the timer', async () => {
  const outer = new AbortController()
  const deadline = new Deadline(outer.signal, 10)
  deadline.release()
  outer.abort()
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect([deadline.aborted, getEventListeners(outer.signal, 'abort').length]).toEqual([false, 0])
})
