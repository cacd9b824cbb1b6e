import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Beginning, Execution, FinishedRun, NewExecution } from '../../contract/execution.ts'
import type { Caller, Stores } from '../../contract/stores.ts'
import { newTool } from '../stores.suite.ts'
import { describeWorkers, infoOf } from './workers.suite.ts'

const caller: Caller = { workspace: 'default', actor: 'key:one' }
const limits = { all: 1000, perTool: 1000, perCaller: 1000 }
const leaseMs = 60_000
const here: Beginning = { how: 'run', worker: 'w1', leaseMs }
const queued: Beginning = { how: 'queue', label: '', withinMs: 60_000, limits }

const draft = (more: Partial<NewExecution> = {}): NewExecution => ({
  id: randomUUID(),
  toolId: null,
  toolName: 'a_tool',
  version: null,
  inputData: { text: '11' },
  timeoutMs: 1000,
  callerId: 'key:one',
  callerLabel: null,
  traceId: null,
  traceparent: null,
  idempotencyKey: null,
  bodyHash: null,
  maxAttempts: 1,
  definition: { name: 'a_tool' },
  purpose: null,
  parentId: null,
  ...more,
})

const ended = (outputData: unknown, more: Partial<FinishedRun> = {}): FinishedRun => ({
  outcome: {
    status: 'SUCCESS',
    result: { stdout: '', stderr: '', exitCode: 0, signal: null, durationMs: 1, truncated: false },
    isolation: 'limited',
    errorCode: null,
    errorMessage: null,
  },
  outputData,
  logs: { stdout: '', stderr: 'a warning' },
  stored: null,
  published: false,
  ...more,
})

/** What every engine must do with recorded runs. */
export function describeExecutions(
  name: string,
  open: () => Promise<{ stores: Stores; execute(statement: string): Promise<unknown>; close(): Promise<void> }>,
): void {
  describe(`executions: ${name}`, () => {
    let stores: Stores
    let execute: (statement: string) => Promise<unknown>
    let close: (() => Promise<void>) | undefined
    const get = async (id: string) => (await stores.executions.get('default', id)) as Execution
    const create = (begin: Beginning, more: Partial<NewExecution> = {}) =>
      stores.executions.create(caller, draft(more), begin)
    const claim = (worker: string, limit = 10, labels = ['']) =>
      stores.executions.claim(worker, { limit, labels, leaseMs })
    /** Ends whatever an earlier test left waiting. */
    const drain = async () => {
      for (const { execution } of await claim('drain', 100)) await stores.executions.finish(execution, ended(null))
    }
    beforeAll(async () => {
      const opened = await open()
      stores = opened.stores
      execute = opened.execute
      close = opened.close
    })
    afterAll(() => close?.())

    it.each([
      ['text that reads as a number', '11\n'],
      ['text', 'plain'],
      ['nothing', null],
      ['a number', 7],
      ['a list', [1, 'a', null]],
    ])('gives back what a run returned: %s', async (_name, output) => {
      const { execution, fresh } = await create(here)
      expect([fresh, execution.status, execution.attempt]).toEqual([true, 'RUNNING', 1])
      const end = await stores.executions.finish(execution, ended(output))
      expect(await get(execution.id)).toMatchObject({
        outputData: output,
        status: 'SUCCESS',
        completedAt: end?.completedAt,
        logs: { stderr: 'a warning' },
        inputData: { text: '11' },
      })
    })

    it('keeps the order of keys in input, output and definition', async () => {
      const value = { zeta: 1, a: { y: [{ k: 1, j: 2 }], b: 2 }, mid: null }
      const more = { inputData: value, definition: value }
      for (const begin of [here, queued]) {
        const { execution } = await create(begin, more)
        const [claimed] = begin === here ? [] : await claim('in-order')
        await stores.executions.finish(claimed?.execution ?? execution, ended(value))
        const { inputData, outputData } = await get(execution.id)
        const definition = claimed?.tool ?? value
        expect(JSON.stringify([inputData, outputData, definition])).toBe(JSON.stringify([value, value, value]))
      }
    })

    it('keeps what PostgreSQL itself would refuse, as near as can be', async () => {
      const { execution } = await create(here, { inputData: { odd: 'a\0b', half: '\ud800' } })
      await stores.executions.finish(execution, ended({ 'k\0': '\udc00x' }, { logs: { stdout: 'x\0y', stderr: '' } }))
      const { inputData, outputData, logs } = await get(execution.id)
      expect([inputData, outputData, logs.stdout]).toEqual([
        { odd: 'a\uFFFDb', half: '\uFFFD' },
        { 'k\uFFFD': '\uFFFDx' },
        'x\uFFFDy',
      ])
    })

    it('writes one end only, and only for the present attempt', async () => {
      const { execution } = await create(here)
      expect(await stores.executions.finish({ id: execution.id, attempt: 2 }, ended('late'))).toBeUndefined()
      expect(await stores.executions.finish(execution, ended('first'))).toBeDefined()
      expect(await stores.executions.finish(execution, ended('second'))).toBeUndefined()
      expect((await get(execution.id)).outputData).toBe('first')
    })

    it('makes one run of one key, and refuses another call under it', async () => {
      const key = { idempotencyKey: randomUUID(), bodyHash: 'same' }
      const made = await Promise.all(Array.from({ length: 8 }, () => create(here, key)))
      expect(made.filter(({ fresh }) => fresh)).toHaveLength(1)
      expect(new Set(made.map(({ execution }) => execution.id)).size).toBe(1)
      await expect(create(here, { ...key, bodyHash: 'other' })).rejects.toMatchObject({ code: 'KEY_REUSED' })
      expect(
        (await stores.executions.create({ ...caller, actor: 'key:two' }, draft({ ...key, callerId: 'key:two' }), here))
          .fresh,
      ).toBe(true)
    })

    it('frees a key whose run never began', async () => {
      const key = { idempotencyKey: randomUUID(), bodyHash: 'same' }
      const { execution } = await create(queued, key)
      await stores.executions.cancel(caller, execution.id, { code: 'EXECUTION_CANCELLED', message: 'no' })
      expect((await create(queued, key)).fresh).toBe(true)
      await drain()
    })

    it('gives callers their turns, and each waiting run to one worker', async () => {
      for (const who of ['a', 'a', 'a', 'b', 'b', 'c']) await create(queued, { callerId: who })
      const first = await claim('x', 3)
      expect(first.map(({ execution }) => execution.callerId).sort()).toEqual(['a', 'b', 'c'])
      for (const who of ['a', 'b', 'c']) await create(queued, { callerId: who })
      const rest = (await Promise.all([claim('x', 3), claim('y', 3)])).flat()
      const claimed = [...first, ...rest]
      expect(new Set(claimed.map(({ execution }) => execution.id)).size).toBe(9)
      for (const { execution } of claimed) await stores.executions.finish(execution, ended(null))
      expect(await claim('x')).toEqual([])
    })

    it('gives a run only to a worker of its label', async () => {
      const { execution } = await create({ ...queued, label: 'gpu' } as Beginning)
      expect(await claim('plain')).toEqual([])
      const [taken] = await claim('special', 1, ['', 'gpu'])
      expect([taken?.execution.id, taken?.tool]).toEqual([execution.id, { name: 'a_tool' }])
      await stores.executions.finish(taken?.execution as Execution, ended(null))
    })

    it('refuses more than may wait', async () => {
      const few = { ...queued, limits: { all: 1000, perTool: 2, perCaller: 1000 } } as Beginning
      const toolName = `busy_${randomUUID().slice(0, 8)}`
      await create(few, { toolName })
      await create(few, { toolName })
      await expect(create(few, { toolName })).rejects.toMatchObject({ code: 'TOO_BUSY' })
      await drain()
    })

    it('limits calls that wait for approval and calls that wait for a worker separately, and names the limit that is reached', async () => {
      await drain()
      const both = { all: 3, perTool: 2, perCaller: 1000 }
      const [work, yes] = [
        { ...queued, limits: both } as Beginning,
        { ...queued, how: 'approval', limits: both } as Beginning,
      ]
      const full = (begin: Beginning, toolName: string) =>
        create(begin, { toolName }).then(
          () => 'room',
          ({ code, message }: { code: string; message: string }) => `${code} ${message}`,
        )
      const asked: string[] = []
      for (const toolName of ['pays', 'pays', 'mails']) asked.push((await create(yes, { toolName })).execution.id)
      expect(await full(yes, 'sends')).toBe(
        'TOO_BUSY Too many calls are waiting for approval: 3 of all tools and callers together.',
      )
      await create(work, { toolName: 'pays' })
      await create(work, { toolName: 'pays' })
      expect(await full(work, 'pays')).toBe('TOO_BUSY Too many calls of pays are waiting: 2.')
      await create(work, { toolName: 'slow' })
      expect(await full(work, 'other')).toBe(
        'TOO_BUSY Too many calls are waiting: 3 of all tools and callers together.',
      )
      for (const id of asked) await stores.executions.decide(caller, id, { approve: false, queueMs: 60_000 })
      await drain()
    })

    it('cancels a queued run at once, and requests the end of a running one', async () => {
      const why = { code: 'EXECUTION_CANCELLED', message: 'stop' }
      const waiting = await create(queued)
      expect((await stores.executions.cancel(caller, waiting.execution.id, why)).status).toBe('CANCELLED')
      const { execution } = await create(here)
      expect((await stores.executions.cancel(caller, execution.id, why)).status).toBe('RUNNING')
      expect(await stores.executions.checkAttempts('w1', [execution])).toEqual({ lost: [], cancel: [execution.id] })
      await stores.executions.finish(execution, ended('done'))
      await expect(stores.executions.cancel(caller, execution.id, why)).rejects.toMatchObject({ code: 'ILLEGAL_STEP' })
      await expect(
        stores.executions.cancel({ ...caller, workspace: 'other' }, execution.id, why),
      ).rejects.toMatchObject({ code: 'NOT_FOUND' })
    })

    it('reports lost runs to their worker', async () => {
      const { execution } = await create(here)
      expect(await stores.executions.checkAttempts('w2', [execution])).toEqual({ lost: [execution.id], cancel: [] })
      await stores.executions.finish(execution, ended(null))
    })

    it('waits for approval', async () => {
      const wait = { ...queued, how: 'approval' } as Beginning
      const [yes, no] = [await create(wait), await create(wait)]
      expect([yes.execution.status, yes.execution.reason, await claim('w1')]).toEqual(['PENDING', 'approval', []])
      const approved = await stores.executions.decide(caller, yes.execution.id, { approve: true, queueMs: 5000 })
      expect(Date.parse(String(approved.expiresAt)) - Date.parse(approved.updatedAt)).toBe(5000)
      const refused = await stores.executions.decide(caller, no.execution.id, {
        approve: false,
        note: 'too risky',
        queueMs: 60_000,
      })
      expect([refused.status, refused.errorCode, refused.errorMessage]).toEqual([
        'CANCELLED',
        'APPROVAL_REFUSED',
        'The call was refused: too risky',
      ])
      await expect(
        stores.executions.decide(caller, no.execution.id, { approve: true, queueMs: 60_000 }),
      ).rejects.toMatchObject({
        code: 'ILLEGAL_STEP',
      })
      const [taken] = await claim('w1')
      expect(taken?.execution.id).toBe(yes.execution.id)
      await stores.executions.finish(taken?.execution as Execution, ended(null))
    })

    it('ends runs of lost workers, retries those that may be retried, and ends runs that waited too long', async () => {
      await stores.executions.renewLease(infoOf('dead'), 1)
      const gone: Beginning = { how: 'run', worker: 'dead', leaseMs: 1 }
      const once = await create(gone)
      const again = await create(gone, { maxAttempts: 2 })
      const inLine = await create({ ...gone, how: 'wait-here' } as Beginning)
      const late = await create({ ...queued, withinMs: 1 } as Beginning)
      const unanswered = await create({ ...queued, how: 'approval', withinMs: 1 } as Beginning)
      await stores.executions.append(once.execution, [
        { seq: 1, stream: 'stdout', text: 'one\n' },
        { seq: 2, stream: 'stderr', text: 'oh\n' },
        { seq: 3, stream: 'stdout', text: 'two\n' },
      ])
      await sleep(20)
      const swept = await stores.executions.sweep()
      expect([...swept.lost].sort()).toEqual([once.execution.id, inLine.execution.id].sort())
      expect(swept.retried).toEqual([again.execution.id])
      expect([...swept.expired].sort()).toEqual([late.execution.id, unanswered.execution.id].sort())
      const ends = await Promise.all([once, inLine, late, unanswered].map(({ execution }) => get(execution.id)))
      expect(ends.map(({ status, errorCode }) => `${status} ${errorCode}`)).toEqual([
        'FAILED WORKER_LOST',
        'CANCELLED CALLER_LOST',
        'CANCELLED QUEUE_EXPIRED',
        'CANCELLED APPROVAL_EXPIRED',
      ])
      // What it was heard to print is kept.
      expect(ends.map(({ logs }) => [logs.stdout, logs.stderr])).toEqual([
        ['one\ntwo\n', 'oh\n'],
        ...Array(3).fill(['', '']),
      ])
      const [retried] = await claim('w3')
      expect([retried?.execution.id, retried?.execution.attempt]).toEqual([again.execution.id, 2])
      expect(await stores.executions.finish(again.execution, ended('late'))).toBeUndefined()
      await stores.executions.finish(retried?.execution as Execution, ended('right'))
      expect((await get(again.execution.id)).outputData).toBe('right')
    })

    describeWorkers({ stores: () => stores, execute: (statement) => execute(statement), create, claim, ended })

    it('ends a run that began longer ago than the maximum duration', async () => {
      await stores.executions.renewLease(infoOf('dead'), 1)
      const { execution: lost } = await create({ how: 'run', worker: 'dead', leaseMs: 1 })
      const { execution: done } = await create(here)
      const { execution: early } = await create(here)
      const began = (id: string, when: string) =>
        execute(`update tool_executions set started_at = now() ${when} where id = '${id}'`)
      await began(lost.id, "- interval '30 days'")
      await began(done.id, "- interval '30 days'")
      await began(early.id, "+ interval '30 days'")
      await sleep(20)
      expect((await stores.executions.sweep()).lost).toEqual([lost.id])
      expect((await stores.executions.finish(done, ended('late')))?.durationMs).toBe(2_147_483_647)
      // The clock of the database was set back meanwhile.
      expect((await stores.executions.finish(early, ended('early')))?.durationMs).toBe(0)
      expect(await get(lost.id)).toMatchObject({
        status: 'FAILED',
        errorCode: 'WORKER_LOST',
        durationMs: 2_147_483_647,
      })
      expect(await get(done.id)).toMatchObject({ status: 'SUCCESS', durationMs: 2_147_483_647 })
    })

    it('claims the requested version, and no run of a deleted or disabled tool', async () => {
      const tool = await stores.tools.create(caller, newTool(), { status: 'ACTIVE' })
      const call = { toolId: tool.id, toolName: tool.name, version: 1, definition: null }
      await create(queued, call)
      await stores.tools.change(caller, tool.id, (now) => ({ ...newTool({ description: 'other' }), name: now.name }))
      const [first] = await claim('w1')
      expect([first?.tool?.version, first?.tool?.executorConfig]).toEqual([1, { command: ['echo', '{{q}}'] }])
      await create(queued, call)
      await stores.tools.transition(caller, tool.id, 'deactivate')
      const [second] = await claim('w1')
      expect([second?.tool, second?.refusal?.code]).toEqual([undefined, 'TOOL_DISABLED'])
      await create(queued, call)
      await stores.tools.remove(caller, tool.id)
      const [third] = await claim('w1')
      expect([third?.tool, third?.refusal?.code]).toEqual([undefined, 'TOOL_NOT_FOUND'])
      for (const each of [first, second, third])
        await stores.executions.finish(each?.execution as Execution, ended(null))
      expect((await get(first?.execution.id as string)).toolName).toBe(tool.name)
    })

    it('holds a queued run to what was tightened while it waited', async () => {
      await drain()
      const active = { status: 'ACTIVE' } as const
      const properties = { w: { type: 'string' } }
      const first = { inputSchema: { type: 'object', properties } }
      const [asks, bounded, walls, kept] = [
        await stores.tools.create(caller, newTool(first), active),
        await stores.tools.create(caller, newTool(first), active),
        await stores.tools.create(
          caller,
          newTool({ ...first, executorConfig: { command: ['ls'], network: true } }),
          active,
        ),
        await stores.tools.create(caller, newTool(first), active),
      ]
      const wait = async (tool: { id: string; name: string }) =>
        (await create(queued, { definition: null, toolId: tool.id, toolName: tool.name, version: 1 })).execution.id
      const ids = [await wait(asks), await wait(bounded), await wait(walls), await wait(kept)]
      const config = (await create(queued, { toolName: 'a_config_tool', definition: { name: 'a_config_tool' } }))
        .execution.id
      const change = (tool: { id: string }, fields: object) =>
        stores.tools.change(caller, tool.id, (current) => ({ ...current, ...fields }))
      await change(asks, { annotations: { requiresApproval: true } })
      await change(bounded, { inputSchema: { type: 'object', properties: { word: { type: 'string' } } } })
      await change(walls, { executorConfig: { command: ['ls'] } })
      await change(kept, { description: 'Other words' })
      const tools = {
        [bounded.name]: { args: { word: { pattern: 'a' } } },
        a_config_tool: { args: {}, requireApproval: true },
      }
      await stores.policies.put(caller, {
        name: 'tightened',
        policy: { executor: { type: 'local', volumes: [] }, default: 'enabled', tools },
      })
      const claimed = new Map((await claim('w1', 100)).map((each) => [each.execution.id, each]))
      await stores.policies.remove(caller, 'tightened')
      expect(ids.map((id) => claimed.get(id)?.refusal?.code)).toEqual([
        'APPROVAL_NEEDED',
        'POLICY_REFUSED',
        'FORBIDDEN',
        undefined,
      ])
      expect(claimed.get(config)?.refusal?.code).toBe('APPROVAL_NEEDED')
      expect(claimed.get(ids[3] as string)?.tool).toMatchObject({ version: 1 })
    })

    it('lists the newest first, or the oldest, filtered, page by page, in its own workspace only', async () => {
      const trace = randomUUID()
      const ids: string[] = []
      for (let count = 0; count < 5; count++) ids.push((await create(here, { traceId: trace })).execution.id)
      const listed = async (sort?: 'createdAt') => {
        const seen: string[] = []
        let cursor: string | undefined
        do {
          const page = await stores.executions.list('default', { limit: 2, trace, cursor, sort })
          seen.push(...page.items.map(({ id }) => id))
          cursor = page.nextCursor
        } while (cursor !== undefined)
        return seen
      }
      const seen = await listed()
      expect(new Set(seen)).toEqual(new Set(ids))
      expect(seen).toHaveLength(5)
      expect(await listed('createdAt')).toEqual(seen.toReversed())
      expect((await stores.executions.list('default', { limit: 10, trace, status: ['SUCCESS'] })).items).toEqual([])
      expect((await stores.executions.list('other', { limit: 10, trace })).items).toEqual([])
      for (const id of ids) await stores.executions.finish({ id, attempt: 1 }, ended(null))
    })

    it('counts calls, failures and durations by span of time, newest first up to a maximum', async () => {
      const toolName = `counted_${randomUUID().slice(0, 8)}`
      const query = { since: new Date(Date.now() - 3_600_000), spanMs: 3_600_000, maxRuns: 100, tool: toolName }
      expect(await stores.stats.runs('default', query)).toMatchObject({ total: { runs: 0, p50Ms: null }, spans: [] })
      const outcome = { ...ended(null).outcome, status: 'FAILED' } as const
      for (const more of [{}, {}, { outcome }]) {
        const { execution } = await create(here, { toolName })
        await stores.executions.finish(execution, ended(null, more))
      }
      await create(here, { toolName, purpose: 'replay' })
      const { total, spans } = await stores.stats.runs('default', query)
      expect(total).toEqual({ runs: 3, failed: 1, p50Ms: expect.any(Number), p95Ms: expect.any(Number) })
      // The hour may change during the test.
      expect(spans.reduce((sum, { runs }) => sum + runs, 0)).toBe(3)
      expect(Date.parse(spans[0]?.from ?? '') % 3_600_000).toBe(0)
      expect((await stores.stats.runs('default', { ...query, maxRuns: 2 })).total.runs).toBe(2)
      expect((await stores.stats.runs('default', { ...query, names: new Set(['other']) })).total.runs).toBe(0)
      expect((await stores.stats.runs('other', query)).total.runs).toBe(0)
    })

    it('stores a large output separately, for its caller and for a limited time', async () => {
      const { execution } = await create(here)
      const stored = { handle: randomUUID(), mediaType: 'text/plain', content: 'x'.repeat(1000), lifeMs: 60_000 }
      const end = await stores.executions.finish(execution, ended('x…', { stored }))
      expect(end?.stored).toMatchObject({ handle: stored.handle, bytes: 1000 })
      expect((await get(execution.id)).result).toEqual(end?.stored)
      expect((await stores.executions.result(caller, stored.handle))?.content).toBe(stored.content)
      expect(await stores.executions.result({ ...caller, actor: 'key:two' }, stored.handle)).toBeUndefined()
      const other = await create(here)
      await stores.executions.finish(
        other.execution,
        ended('y', { stored: { ...stored, handle: randomUUID(), lifeMs: -1 } }),
      )
      const { result } = await get(other.execution.id)
      expect(await stores.executions.result(caller, result?.handle as string)).toBeUndefined()
    })

    it('publishes output of a run, and deletes it when the run has ended', async () => {
      const { execution } = await create(here)
      await stores.executions.append(execution, [
        { seq: 1, stream: 'stdout', text: 'a' },
        { seq: 2, stream: 'stderr', text: 'b' },
      ])
      expect((await stores.executions.events(execution.id, 1)).map(({ text }) => text)).toEqual(['b'])
      await stores.executions.finish(execution, ended('a', { published: true }))
      const left = async () => (await stores.executions.events(execution.id, 0)).length
      await stores.executions.prune({ days: 1000, maxRows: 1_000_000 })
      expect(await left()).toBe(2)
      await stores.executions.prune({ days: 1000, maxRows: 1_000_000, eventsMs: 0 })
      expect([await left(), (await get(execution.id)).status]).toEqual([0, 'SUCCESS'])
    })

    it('deletes runs beyond the retention limits, and no running one', async () => {
      const { execution } = await create(here)
      let deleted = 1
      while (deleted > 0) deleted = await stores.executions.prune({ days: 1000, maxRows: 3 })
      const { items } = await stores.executions.list('default', { limit: 100 })
      expect(items.filter(({ status }) => status !== 'RUNNING' && status !== 'PENDING')).toHaveLength(3)
      expect(items.map(({ id }) => id)).toContain(execution.id)
      while ((await stores.executions.prune({ days: 0, maxRows: 100 })) > 0);
      expect(
        (await stores.executions.list('default', { limit: 100 })).items.every(({ status }) => status === 'RUNNING'),
      ).toBe(true)
    })
  })
}
