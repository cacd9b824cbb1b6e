import { describe, expect, it } from 'vitest'
import { Semaphore } from '../base/semaphore.ts'
import { SlotTicket } from './inline-runs.ts'

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
