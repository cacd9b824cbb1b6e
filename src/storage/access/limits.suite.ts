import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Limit } from '../../contract/policy.ts'
import type { Caller, Stores } from '../../contract/stores.ts'

const caller: Caller = { workspace: 'default', actor: 'key:tester' }
let names = 0

/** What every engine must do; with two connections, as two replicas have them. */
export function describeLimits(
  name: string,
  open: () => Promise<{ stores: Stores; replica: Stores; close(): Promise<void> }>,
): void {
  describe(`limits: ${name}`, () => {
    let opened: Awaited<ReturnType<typeof open>>
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened?.close())
    const make = async (fields: object) => {
      const limit = Limit.parse({ name: `limit_${++names}`, ...fields })
      await opened.stores.limits.put(caller, limit)
      return limit
    }
    const take = (limit: Limit, subject = '', stores = opened.stores) =>
      stores.limits.take('default', [{ limit, subject }])
    const useOf = async (limit: Limit) =>
      (await opened.stores.limits.usage('default')).filter((use) => use.limit === limit.name)

    it('allow exactly the maximum of concurrent calls on two replicas', async () => {
      const limit = await make({ callsPerDay: 20 })
      const calls = Array.from({ length: 60 }, (_, at) => take(limit, '', at % 2 ? opened.replica : opened.stores))
      const refusals = (await Promise.all(calls)).filter((refusal) => refusal !== undefined)
      expect(refusals).toHaveLength(40)
      expect(refusals[0]).toMatchObject({ measure: 'callsPerDay' })
      expect(refusals[0]?.retryAfter).toBeLessThanOrEqual(86_400)
      expect(await useOf(limit)).toMatchObject([{ subject: '', used: { callsPerDay: 20 } }])
    })

    it('allow the calls of a minute at once, and report when the next one is allowed', async () => {
      const limit = await make({ callsPerMinute: 2 })
      expect(await Promise.all([take(limit), take(limit)])).toEqual([undefined, undefined])
      const refusal = await take(limit, '', opened.replica)
      expect(refusal).toMatchObject({ measure: 'callsPerMinute', limit: { name: limit.name } })
      expect(refusal?.retryAfter).toBeGreaterThan(0)
      expect(refusal?.retryAfter).toBeLessThanOrEqual(30)
      expect(await take(limit, 'caller=other')).toBeUndefined()
      expect(await take(await make({ callsPerMinute: 0 }))).toMatchObject({ measure: 'callsPerMinute' })
    })

    it('count a call toward all of its limits or none, also under load', async () => {
      const [full, open] = [await make({ callsPerDay: 1 }), await make({ callsPerDay: 5 })]
      const both = [full, open].map((limit) => ({ limit, subject: '' }))
      const taken = await Promise.all(Array.from({ length: 10 }, () => opened.stores.limits.take('default', both)))
      expect(taken.filter((refusal) => refusal === undefined)).toHaveLength(1)
      expect(taken.find((refusal) => refusal !== undefined)?.limit.name).toBe(full.name)
      expect((await useOf(open))[0]?.used.callsPerDay).toBe(1)
      await opened.stores.limits.giveBack('default', both)
      expect((await useOf(open))[0]?.used.callsPerDay).toBe(0)
      expect(await opened.stores.limits.take('default', both)).toBeUndefined()
    })

    it('are deleted with their counters, and a missing limit is reported', async () => {
      const limit = await make({ callsPerDay: 1 })
      await take(limit)
      await opened.stores.limits.remove(caller, limit.name)
      expect(await useOf(limit)).toEqual([])
      await expect(opened.stores.limits.remove(caller, limit.name)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    })
  })
}
