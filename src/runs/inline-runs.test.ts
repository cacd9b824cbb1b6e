import { describe, expect, it } from 'vitest'
import { Semaphore } from '../base/semaphore.ts'
import type { Beginning, Execution } from '../contract/execution.ts'
import type { RunnableTool } from '../contract/executor.ts'
import { createRunner, slotsFor } from './create-runner.ts'
import type { ValidatedCall } from './draft-execution.ts'
import { InlineRuns, SlotTicket } from './inline-runs.ts'

const line = (slots: number, waiting = 10) => new Semaphore({ slots, waiting })

describe('SlotTicket', () => {
  it('takes a free slot at once, and returns it once', async () => {
    const slots = line(1)
    const place = new SlotTicket(slots, { caller: 'a' })
    await place.turn
    expect([place.waits, slots.busy]).toEqual([false, 1])
    place.leave()
    place.leave()
    expect(slots.busy).toBe(0)
  })

  it('waits for a slot, and returns it', async () => {
    const slots = line(1)
    const [first, second] = [new SlotTicket(slots, { caller: 'a' }), new SlotTicket(slots, { caller: 'b' })]
    await second.checkRoom()
    expect([second.waits, slots.waiting]).toEqual([true, 1])
    first.leave()
    await second.turn
    expect([slots.busy, slots.waiting]).toEqual([1, 0])
    second.leave()
    expect(slots.busy).toBe(0)
  })

  it('leaves the queue, even at the moment when it gets a slot', async () => {
    const slots = line(1)
    const places = ['a', 'b', 'c'].map((caller) => new SlotTicket(slots, { caller }))
    places[1]?.leave()
    await expect(places[1]?.turn).rejects.toMatchObject({ code: 'EXECUTION_CANCELLED' })
    places[0]?.leave()
    places[2]?.leave()
    await expect(places[2]?.turn).rejects.toMatchObject({ code: 'EXECUTION_CANCELLED' })
    expect([slots.busy, slots.waiting]).toEqual([0, 0])
  })

  it('is rejected where too many wait, and takes no slot', async () => {
    const slots = line(1, 0)
    const first = new SlotTicket(slots, { caller: 'a' })
    const second = new SlotTicket(slots, { caller: 'b' })
    await expect(second.checkRoom()).rejects.toMatchObject({ code: 'TOO_BUSY' })
    second.leave()
    first.leave()
    expect(slots.busy).toBe(0)
  })
})

type Begun = Beginning & { readonly meanwhile?: boolean }

/** The beginning that is recorded for a call of a tool with these options, and whether the tool runs meanwhile. */
async function beginningOf(
  annotations: RunnableTool['annotations'],
  idempotencyKey?: string,
  executorType: RunnableTool['executorType'] = 'shell',
): Promise<Begun> {
  const seen: Begun[] = []
  const runs = new InlineRuns({
    runner: { slotsOf: () => line(1) },
    store: { start: nothing, cancel: nothing, get: nothing },
    recorder: {
      create: async (_, beginning) => {
        seen.push(beginning)
        return { execution: {} as Execution, fresh: false }
      },
      perform: nothing,
      performWhileRecording: async (_, beginning) => {
        seen.push({ ...beginning, meanwhile: true })
        return {} as Execution
      },
    },
    leases: { hold: () => {}, release: () => {}, worker: 'w1' },
    settings: { leaseMs: 1000 },
  })
  const caller = { workspace: 'default', actor: 'key:one' }
  const tool = { annotations, executorType }
  await runs.run({ caller, job: { tool }, options: { wait: true, idempotencyKey } } as ValidatedCall)
  return seen[0] as Begun
}
const nothing = () => Promise.reject(new Error('not called'))

describe('InlineRuns', () => {
  it('wait for the disk before a run that could have an effect, or be repeated under its key', async () => {
    expect(await beginningOf({ readOnlyHint: true })).toMatchObject({ how: 'run', unflushed: true })
    expect(await beginningOf({ readOnlyHint: true }, 'key')).toMatchObject({ unflushed: false })
    expect(await beginningOf({ idempotentHint: true })).toMatchObject({ unflushed: false })
    expect(await beginningOf({})).toMatchObject({ unflushed: false })
  })

  it('record a call while its tool runs only where the tool has no effect and is no process', async () => {
    expect(await beginningOf({ readOnlyHint: true }, undefined, 'http')).toMatchObject({ how: 'run', meanwhile: true })
    const others = [
      beginningOf({}, undefined, 'http'),
      beginningOf({ readOnlyHint: true }, 'key', 'mcp'),
      beginningOf({ readOnlyHint: true }, undefined, 'python'),
      beginningOf({ readOnlyHint: true }, undefined, 'program'),
    ]
    for (const begun of await Promise.all(others)) expect(begun).not.toHaveProperty('meanwhile')
  })

  it('have four times as many slots for tools that are no processes', () => {
    const options = {
      checkBoundValues: async () => {},
      redactorFor: () => Object.assign((text: string) => text, redactor),
    }
    const runner = createRunner({ executors: {}, ...slotsFor({ concurrency: 2, isShared: false }), ...options })
    const sizeOf = (executorType: string) => runner.slotsOf({ executorType } as RunnableTool).size
    expect(['python', 'cli', 'http', 'mcp'].map(sizeOf)).toEqual([2, 2, 8, 8])
  })
})

const redactor = { unfinished: () => 0, replacements: () => [] }
