import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toErrorBody, toTooldexError } from '../src/base/errors.ts'
import { invoke } from '../src/operations/invoke.ts'
import { deleteLimit, listLimits, putLimit } from '../src/operations/registry/limits.ts'
import { putToolset } from '../src/operations/registry/toolsets.ts'
import { callTool } from '../src/operations/runs/call-tool.ts'
import { executeTool } from '../src/operations/runs/execute.ts'
import { openRecorded } from './support/open-recorded.ts'

let world: Awaited<ReturnType<typeof openRecorded>>
beforeAll(async () => {
  world = await openRecorded()
  await world.register('say', { script: 'printf "%s" "$1"' })
  await world.register('other', { script: 'printf "%s" "$1"' })
  await invoke(putToolset, { name: 'talk', filter: { names: ['say'] } }, world.context)
})
afterAll(() => world?.close())

/** The context of another caller. */
const as = (actor: string, more: object = {}) => ({
  ...world.context,
  caller: { ...world.context.caller, actor, ...more },
})
const say = (context = as('key:ci'), name = 'say', more: object = {}) =>
  invoke(callTool, { name, arguments: { word: 'hello' }, ...more }, context)
const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (thrown: unknown) => toErrorBody(toTooldexError(thrown)),
  )

/** A limit for the time of one test. */
async function withLimit(limit: object, work: () => Promise<void>): Promise<void> {
  await invoke(putLimit, { name: 'tested', ...limit }, world.context)
  await world.sync()
  try {
    await work()
  } finally {
    await invoke(deleteLimit, { name: 'tested' }, world.context)
    await world.sync()
  }
}
const usage = async () => (await invoke(listLimits, {}, world.context)).items[0]?.usage

describe('limits', () => {
  it('refuse a call with the limit and the seconds to wait, without recording it', async () => {
    await withLimit({ caller: 'ci', callsPerMinute: 1 }, async () => {
      await say()
      const before = await world.stores.executions.list('default', { limit: 1, caller: 'key:ci' })
      const refusal = await refusalOf(say())
      expect(refusal).toMatchObject({
        code: 'LIMIT_EXCEEDED',
        retryable: true,
        limit: { name: 'tested', measure: 'callsPerMinute', max: 1 },
        message: 'The limit tested allows 1 calls per minute, which are used.',
      })
      expect(refusal?.retryAfter).toBeGreaterThan(0)
      expect(refusal?.hint).toContain(`Wait ${refusal?.retryAfter} seconds`)
      const after = await world.stores.executions.list('default', { limit: 1, caller: 'key:ci' })
      expect(after.items[0]?.id).toBe(before.items[0]?.id)
      const queued = invoke(executeTool, { idOrName: 'say', input: { word: 'x' } }, as('key:ci'))
      expect(await refusalOf(queued)).toMatchObject({ code: 'LIMIT_EXCEEDED' })
      expect(await refusalOf(say(as('key:another')))).toBeUndefined()
    })
  })

  it.each([
    ['callsPerDay', 1],
    ['bytesPerDay', 5],
    ['tokensPerDay', 1],
  ])('of %s count calls, and the cost of runs when they end', async (measure, max) => {
    await withLimit({ [measure]: max }, async () => {
      expect(await refusalOf(say())).toBeUndefined()
      expect(await refusalOf(say(as('key:another'), 'other'))).toMatchObject({ limit: { measure, max } })
      expect(await usage()).toEqual([{ subject: '', used: { [measure]: max } }])
    })
  })

  it('of seconds count the time of runs', async () => {
    await withLimit({ secondsPerDay: 0 }, async () => {
      expect(await refusalOf(say())).toMatchObject({ limit: { measure: 'secondsPerDay' } })
    })
    await withLimit({ secondsPerDay: 1000 }, async () => {
      await world.register('slow', { script: 'sleep 0.2' })
      await say(as('key:ci'), 'slow')
      expect((await usage())?.[0]?.used.secondsPerDay).toBeGreaterThan(0)
    })
  })

  it('count each caller or tool separately with *, and the members of a group together', async () => {
    await withLimit({ caller: '*', tool: '*', callsPerDay: 1 }, async () => {
      for (const actor of ['key:a', 'sub:b c']) {
        expect(await refusalOf(say(as(actor)))).toBeUndefined()
        expect(await refusalOf(say(as(actor), 'other'))).toBeUndefined()
        expect(await refusalOf(say(as(actor)))).toMatchObject({ code: 'LIMIT_EXCEEDED' })
      }
      expect((await usage())?.map(({ subject }) => subject)).toContain('tool=other caller=sub:b c')
    })
    await withLimit({ caller: 'group:ops', callsPerDay: 1 }, async () => {
      expect(await refusalOf(say(as('sub:x', { groups: ['ops', 'all'] })))).toBeUndefined()
      expect(await refusalOf(say(as('sub:y', { groups: ['ops'] })))).toMatchObject({ code: 'LIMIT_EXCEEDED' })
      expect(await refusalOf(say(as('sub:z', { groups: ['op'] })))).toBeUndefined()
    })
  })

  it('of a toolset count the calls through it only', async () => {
    await withLimit({ toolset: 'talk', callsPerDay: 1 }, async () => {
      const inside = as('key:ci', { toolsets: ['talk'] })
      expect(await refusalOf(say())).toBeUndefined()
      expect(await refusalOf(say(inside))).toBeUndefined()
      expect(await refusalOf(say(inside))).toMatchObject({ code: 'LIMIT_EXCEEDED' })
      expect(await refusalOf(say())).toBeUndefined()
    })
  })

  it('do not count dry runs, invalid calls, and repetitions under an idempotency key', async () => {
    await withLimit({ callsPerDay: 5 }, async () => {
      await say(as('key:ci'), 'say', { dryRun: true })
      expect(await refusalOf(say(as('key:ci'), 'say', { arguments: {} }))).toMatchObject({ code: 'INPUT_INVALID' })
      await say(as('key:ci'), 'say', { idempotencyKey: 'once' })
      await say(as('key:ci'), 'say', { idempotencyKey: 'once' })
      expect(await usage()).toEqual([{ subject: '', used: { callsPerDay: 1 } }])
    })
  })

  it('allow concurrent calls up to the maximum', async () => {
    await withLimit({ callsPerDay: 3 }, async () => {
      const results = await Promise.all(Array.from({ length: 8 }, () => refusalOf(say())))
      expect(results.filter((refusal) => refusal === undefined)).toHaveLength(3)
    })
  })

  it.each([[{}], [{ callsPerMinute: -1 }], [{ callsPerDay: 1.5 }], [{ callsPerDay: '5' }], [{ perDay: 5 }]])(
    'are rejected as %j',
    async (limit) => {
      const put = invoke(putLimit, { name: 'wrong', ...limit }, world.context)
      expect(await refusalOf(put)).toMatchObject({ code: 'INPUT_INVALID' })
    },
  )
})
