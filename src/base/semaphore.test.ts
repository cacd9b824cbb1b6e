import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Semaphore } from './semaphore.ts'

/** Work that goes on until told. */
function task() {
  let end: (value: string) => void = () => {}
  let fail: (error: Error) => void = () => {}
  const state = { started: false }
  const done = new Promise<string>((resolve, reject) => {
    end = resolve
    fail = reject
  })
  const work = () => {
    state.started = true
    return done
  }
  return { work, state, end, fail }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('Semaphore', () => {
  it('leaves slots to other callers where one caller may not take all', async () => {
    const semaphore = new Semaphore({ slots: 3, slotsEach: 2, waiting: 10, waitingEach: 2 })
    const greedy = [task(), task(), task(), task()]
    const runs = greedy.map(({ work }) => semaphore.run(work, { caller: 'greedy' }))
    await settle()
    expect(greedy.map(({ state }) => state.started)).toEqual([true, true, false, false])
    await expect(semaphore.run(task().work, { caller: 'greedy' })).rejects.toMatchObject({ code: 'TOO_BUSY' })
    const other = task()
    const otherRun = semaphore.run(other.work, { caller: 'other' })
    await settle()
    expect(other.state.started).toBe(true)
    other.end('other')
    await otherRun
    await settle()
    expect(greedy.map(({ state }) => state.started)).toEqual([true, true, false, false])
    for (const each of greedy) each.end('greedy')
    await Promise.all(runs)
    expect({ busy: semaphore.busy, waiting: semaphore.waiting }).toEqual({ busy: 0, waiting: 0 })
  })

  it('runs at most as many as there are slots, first come first served', async () => {
    const semaphore = new Semaphore({ slots: 2, waiting: 10 })
    const order: number[] = []
    let [running, most] = [0, 0]
    const job = (id: number) => async () => {
      order.push(id)
      running++
      most = Math.max(most, running)
      await settle()
      running--
      return id
    }
    const results = await Promise.all([0, 1, 2, 3, 4, 5].map((id) => semaphore.run(job(id))))
    expect(results).toEqual([0, 1, 2, 3, 4, 5])
    expect(order).toEqual([0, 1, 2, 3, 4, 5])
    expect(most).toBe(2)
  })

  it('rejects calls only while the queue is full', async () => {
    const semaphore = new Semaphore({ slots: 1, waiting: 1 })
    const [first, second] = [task(), task()]
    const running = semaphore.run(first.work)
    const waiting = semaphore.run(second.work)
    await expect(semaphore.run(task().work)).rejects.toMatchObject({
      code: 'TOO_BUSY',
      message: '1 calls are running and 1 are waiting.',
    })
    first.end('a')
    second.end('b')
    expect(await Promise.all([running, waiting])).toEqual(['a', 'b'])
    await expect(semaphore.run(async () => 'free again')).resolves.toBe('free again')
  })

  it('removes an aborted call from the queue without running it, and starts the next one', async () => {
    const semaphore = new Semaphore({ slots: 1, waiting: 2 })
    const [first, second, third] = [task(), task(), task()]
    const stop = new AbortController()
    const running = semaphore.run(first.work)
    const aborted = semaphore.run(second.work, { signal: stop.signal })
    const waiting = semaphore.run(third.work)
    stop.abort()
    await expect(aborted).rejects.toMatchObject({ code: 'EXECUTION_CANCELLED' })
    const late = semaphore.run(async () => 'took the free place in line')
    first.end('a')
    await running
    await settle()
    expect(second.state.started).toBe(false)
    expect(third.state.started).toBe(true)
    third.end('c')
    expect(await waiting).toBe('c')
    expect(await late).toBe('took the free place in line')
  })

  it('does not start a call that is aborted already', async () => {
    const { work, state } = task()
    await expect(
      new Semaphore({ slots: 1, waiting: 1 }).run(work, { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({
      code: 'EXECUTION_CANCELLED',
    })
    expect(state.started).toBe(false)
  })

  it('leaves a running call alone when its signal is aborted', async () => {
    const { work, end } = task()
    const stop = new AbortController()
    const running = new Semaphore({ slots: 1, waiting: 1 }).run(work, { signal: stop.signal })
    stop.abort()
    end('its own affair')
    expect(await running).toBe('its own affair')
  })

  it('frees the slot of work that throws', async () => {
    const semaphore = new Semaphore({ slots: 1, waiting: 0 })
    await expect(semaphore.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    await expect(
      semaphore.run(() => {
        throw new Error('at once')
      }),
    ).rejects.toThrow('at once')
    expect(await semaphore.run(async () => 'ok')).toBe('ok')
  })

  it('loses no slot, whichever calls are aborted', async () => {
    const call = fc.record({ abort: fc.boolean(), fails: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(call, { maxLength: 12 }), async (slots, calls) => {
        const semaphore = new Semaphore({ slots, waiting: 100 })
        const controllers = calls.map(() => new AbortController())
        const runs = calls.map(({ fails }, index) =>
          semaphore.run(() => (fails ? Promise.reject(new Error('no')) : settle()), {
            signal: controllers[index]?.signal,
          }),
        )
        for (const [index, { abort }] of calls.entries()) if (abort) controllers[index]?.abort()
        await Promise.allSettled(runs)
        // All slots are free again: as many calls as there are start at once.
        const after = Array.from({ length: slots }, task)
        const ended = after.map(({ work }) => semaphore.run(work))
        await settle()
        expect(after.every(({ state }) => state.started)).toBe(true)
        for (const { end } of after) end('')
        await Promise.all(ended)
      }),
      { numRuns: 50 },
    )
  })
})
