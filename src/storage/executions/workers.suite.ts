import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Beginning, ClaimedExecution, Execution, FinishedRun, NewExecution } from '../../contract/execution.ts'
import type { WorkerInfo } from '../../contract/run.ts'
import type { Stores } from '../../contract/stores.ts'

const leaseMs = 60_000
const here = { how: 'run', worker: 'w1', leaseMs } as const satisfies Beginning

/** A worker as it registers itself. */
export const infoOf = (worker: string): WorkerInfo => ({
  worker,
  kind: 'worker',
  version: '1.0.0',
  executors: ['cli', 'http'],
  labels: ['gpu'],
  slots: 4,
  takesWork: true,
  draining: false,
})

/** The open database of the suite of executions, and what it makes runs with. */
interface WorkerSuite {
  stores(): Stores
  execute(statement: string): Promise<unknown>
  create(begin: Beginning, more?: Partial<NewExecution>): Promise<{ readonly execution: Execution }>
  claim(worker: string): Promise<readonly ClaimedExecution[]>
  ended(outputData: unknown): FinishedRun
}

/** What every engine must do with workers and their leases. */
export function describeWorkers({ stores, execute, create, claim, ended }: WorkerSuite): void {
  describe('workers', () => {
    it('keeps the runs of a worker while its lease holds, however old they are, and lists it with what it can run', async () => {
      await stores().executions.renewLease(infoOf('busy'), leaseMs)
      await stores().executions.renewLease(infoOf('idle'), leaseMs)
      const { execution } = await create({ how: 'run', worker: 'busy', leaseMs: 1 })
      const old = `update tool_executions set started_at = now() - interval '1 hour', lease_until = now() - interval '1 hour'`
      await execute(`${old} where id = '${execution.id}'`)
      expect((await stores().executions.sweep()).lost).toEqual([])
      const { workers } = await stores().executions.queue('default')
      const [busy, idle] = ['busy', 'idle'].map((name) => workers.find(({ worker }) => worker === name))
      expect(busy).toMatchObject({ ...infoOf('busy'), running: 1, alive: true })
      expect(idle).toMatchObject({ ...infoOf('idle'), running: 0, alive: true })
      await stores().executions.removeWorker('busy')
      await stores().executions.removeWorker('idle')
      const left = (await stores().executions.queue('default')).workers.map(({ worker }) => worker)
      expect([left.includes('busy'), left.includes('idle')]).toEqual([true, false])
      await stores().executions.renewLease(infoOf('busy'), 1)
      await sleep(20)
      expect((await stores().executions.sweep()).lost).toEqual([execution.id])
    })

    it('starts the waiting runs of one turn together, but none that has ended', async () => {
      const { executions } = stores()
      const wait: Beginning = { ...here, how: 'wait-here' }
      const [first, second, gone] = (await Promise.all([create(wait), create(wait), create(wait)])).map(
        ({ execution }) => execution,
      ) as [Execution, Execution, Execution]
      await executions.cancel({ workspace: 'default', actor: 'key:one' }, gone.id, { code: 'CALLER_LOST', message: '' })
      const starts = [first, gone, second].map((run) => executions.start(run, 'w1', leaseMs))
      expect(await Promise.all(starts)).toEqual([true, false, true])
      expect(await executions.start(first, 'w1', leaseMs)).toBe(false)
      expect(await executions.get('default', second.id)).toMatchObject({ status: 'RUNNING', attempt: 1 })
      await Promise.all([first, second].map((run) => executions.finish({ id: run.id, attempt: 1 }, ended(null))))
    })

    it('shows a run that starts before its row is on disk to everybody, and ends it once', async () => {
      const { execution } = await create({ ...here, unflushed: true })
      expect(await stores().executions.get('default', execution.id)).toMatchObject({ status: 'RUNNING', attempt: 1 })
      expect(await stores().executions.finish(execution, ended('done'))).toBeDefined()
      expect(await stores().executions.finish(execution, ended('again'))).toBeUndefined()
    })

    it('sweeps runs of the sweeping process that it does not run, whatever its lease', async () => {
      await stores().executions.renewLease(infoOf('self'), leaseMs)
      const make = async () => (await create({ how: 'run', worker: 'self', leaseMs })).execution.id
      const [young, made, unheard] = [await make(), await make(), await make()]
      const old = `update tool_executions set updated_at = now() - interval '1 hour'`
      await execute(`${old} where id in ('${made}', '${unheard}')`)
      expect((await stores().executions.sweep({ worker: 'other', runs: [] })).lost).toEqual([])
      expect((await stores().executions.sweep({ worker: 'self', runs: [made] })).lost).toEqual([unheard])
      for (const id of [young, made]) await stores().executions.finish({ id, attempt: 1 }, ended(null))
    })

    it('returns a run to the queue where its tool may run again', async () => {
      const back = { label: '', withinMs: 60_000, definition: null }
      const once = await create(here)
      const safe = await create(here, { maxAttempts: 2 })
      expect(await stores().executions.giveBack(once.execution, { ...back, counts: false })).toBe(false)
      expect(await stores().executions.giveBack(safe.execution, { ...back, counts: true })).toBe(true)
      const [second] = await claim('w2')
      expect(await stores().executions.finish(safe.execution, ended('late'))).toBeUndefined()
      expect(second?.execution).toMatchObject({ id: safe.execution.id, attempt: 2 })
      const taken = second?.execution as Execution
      // Its attempts are used up, but one that a stopping process broke off does not count.
      expect(await stores().executions.giveBack(taken, { ...back, counts: true })).toBe(false)
      expect(await stores().executions.giveBack(taken, { ...back, counts: false })).toBe(true)
      const [third] = await claim('w3')
      await stores().executions.finish(third?.execution as Execution, ended('right'))
      expect(await stores().executions.get('default', taken.id)).toMatchObject({
        status: 'SUCCESS',
        attempt: 3,
        outputData: 'right',
      })
      await stores().executions.finish(once.execution, ended(null))
    })
  })
}
