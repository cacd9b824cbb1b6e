import { expect, it } from 'vitest'
import { yieldTurns } from './yield-turns.ts'

it('resumes one of many works in each turn of the event loop, each as often as the others', async () => {
  let turnOfLoop = 0
  let counting = setImmediate(function count() {
    turnOfLoop++
    counting = setImmediate(count)
  })
  const resumed: { readonly work: number; readonly at: number }[] = []
  const run = async (work: number) => {
    const turn = yieldTurns(undefined, 0)
    for (let step = 0; step < 5; step++) {
      await turn()
      resumed.push({ work, at: turnOfLoop })
    }
  }
  await Promise.all([0, 1, 2, 3].map(run))
  clearImmediate(counting)
  expect(resumed.map(({ work }) => work)).toEqual(Array.from({ length: 20 }, (_, at) => at % 4))
  expect(new Set(resumed.map(({ at }) => at)).size).toBe(20)
})

it('counts the time of all works of a turn together', async () => {
  const limit = 60_000
  await yieldTurns(undefined, 0)()
  // Both belong to the turn that began above, although they were created later.
  expect(yieldTurns(undefined, limit)()).toBeUndefined()
  expect(yieldTurns(undefined, 0)()).toBeInstanceOf(Promise)
})

it('ends work whose signal was aborted', () => {
  const turn = yieldTurns(AbortSignal.abort())
  expect(() => turn()).toThrow(expect.objectContaining({ code: 'EXECUTION_CANCELLED' }))
})
