import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createStores } from '../../src/storage/index.ts'
import { auditRuns, keepHistory, queryRuns } from '../support/audit-runs.ts'
import { openMigrated } from '../support/migrated-database.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { startServer } from '../support/start-server.ts'
import { tempFolder, tempScript } from '../support/temp-folder.ts'
import { execute, registerCommand, TracedTools, untilEnded } from '../support/traced-tools.ts'
import { faultyMain } from './crash-loop.ts'
import { leaseEnv, leaseMs, openQueue } from './open-queue.ts'
import { findProcesses } from './processes.ts'

let postgres: SharedPostgres
beforeAll(async () => {
  postgres = await sharedPostgres()
}, 600_000)
afterAll(() => postgres.stop())

describe('67: a process that ends before its first heartbeat', () => {
  it('67: the run of a worker that is killed right after the claim is swept', async () => {
    const { folder, server, worker, queue, tools, audit } = await openQueue(postgres)
    const [killFile, pointsFile] = [join(folder, 'kill-at'), join(folder, 'points')]
    writeFileSync(killFile, '1')
    const faults = { TEST_KILL_FILE: killFile, TEST_POINTS_FILE: pointsFile, TEST_POINTS: '^F2' }
    const doomed = await worker({ entry: faultyMain, env: faults })
    const id = await queue('once', { mark: 'unheard' })
    await doomed.ended
    expect(await untilEnded(server, id)).toMatchObject({ status: 'FAILED', errorCode: 'WORKER_LOST', attempt: 1 })
    expect(tools.count('unheard').begun).toBe(0)
    await audit()
  })

  it.each(['embedded', 'PostgreSQL'])('67 (%s): a run without a lease is swept by its age', async (engine) => {
    const home = tempFolder()
    const database = engine === 'PostgreSQL' ? await postgres.createDatabase() : undefined
    const where = database === undefined ? { home } : { url: database }
    await keepHistory(where)
    const old = `now() - interval '2 minutes'`
    const insert = (status: string, started: string, made: string) =>
      queryRuns<{ id: string }>(
        where,
        `insert into tool_executions (workspace_id, tool_name, status, input_data, worker, attempt, started_at, created_at)
          values ('default', 'gone', '${status}', '{}', 'nobody', 1, ${started}, ${made}) returning id`,
      ).then((rows) => rows[0]?.id as string)
    const stale = await insert('RUNNING', old, old)
    const neverStarted = await insert('RUNNING', 'null', old)
    // Young for as long as a slow start of the server may take.
    const young = await insert('RUNNING', `now() + interval '1 hour'`, 'now()')
    const server = await startServer({
      limitedBecause: 'its tools write to files of the test',
      home,
      database,
      env: leaseEnv,
    })
    onTestFinished(() => server.stop())
    for (const id of [stale, neverStarted])
      expect(await untilEnded(server, id)).toMatchObject({ status: 'FAILED', errorCode: 'WORKER_LOST' })
    expect((await server.request('GET', `/executions/${young}`)).body.status).toBe('RUNNING')
  })
})

describe('68: a worker that is suspended past its lease', () => {
  it('68: has its late result rejected, and continues to work', async () => {
    const { server, worker, queue, tools, audit } = await openQueue(postgres)
    await tools.registerHeld(server, 'held')
    const slow = await worker()
    const id = await queue('held', { mark: 'late' })
    await expect.poll(() => tools.count('late').begun).toBe(1)
    slow.signal('SIGSTOP')
    const swept = await untilEnded(server, id)
    expect(swept).toMatchObject({ status: 'FAILED', errorCode: 'WORKER_LOST', attempt: 1 })
    tools.release()
    await expect.poll(() => tools.count('late').ended).toBe(1)
    slow.signal('SIGCONT')
    await expect
      .poll(() => slow.stderr())
      .toMatch(/result rejected: the run has ended otherwise|run lost; another process may take it/)
    expect((await server.request('GET', `/executions/${id}`)).body).toEqual(swept)
    const next = await untilEnded(server, await queue('once', { mark: 'next' }))
    expect(next.status).toBe('SUCCESS')
    await audit()
  })

  it('68: kills the child of a run that another worker took over', async () => {
    const { folder, server, worker, queue, audit } = await openQueue(postgres)
    const [trace, goOn] = [join(folder, 'attempts'), join(folder, 'go-on')]
    const script = `#!/bin/sh\necho begun >> ${trace}\nwhile [ ! -e ${goOn} ]; do sleep 0.1; done\necho ended >> ${trace}\n`
    const file = tempScript('taken-over', script, folder)
    const options = { annotations: { readOnlyHint: true }, config: { timeoutMs: 120_000 } }
    await registerCommand(server, 'taken_over', file, options)
    const attempts = () => (existsSync(trace) ? readFileSync(trace, 'utf8').split('\n').slice(0, -1) : [])
    const running = () => findProcesses(file).filter((line) => line.startsWith('/bin/sh')).length
    const first = await worker()
    const id = await queue('taken_over', {})
    await expect.poll(attempts).toEqual(['begun'])
    first.signal('SIGSTOP')
    const second = await worker()
    await expect.poll(attempts).toEqual(['begun', 'begun'])
    // A shell that is about to start its sleep is there twice for a moment.
    await expect.poll(running).toBe(2)
    first.signal('SIGCONT')
    await expect.poll(running).toBe(1)
    writeFileSync(goOn, '')
    expect(await untilEnded(server, id)).toMatchObject({ status: 'SUCCESS', attempt: 2 })
    expect(attempts()).toEqual(['begun', 'begun', 'ended'])
    expect(second.stderr()).not.toContain('refused')
    await audit()
  }, 600_000)
})

it.each(['embedded', 'PostgreSQL'])(
  '68 (%s): a suspended server whose runs no other process took runs each of them once',
  async (engine) => {
    const home = tempFolder()
    const database = engine === 'PostgreSQL' ? await postgres.createDatabase() : undefined
    const where = database === undefined ? { home } : { url: database }
    await keepHistory(where)
    const server = await startServer({
      limitedBecause: 'its tools write to files of the test',
      home,
      database,
      env: leaseEnv,
    })
    onTestFinished(() => server.stop())
    const tools = new TracedTools(home)
    await tools.registerHeld(server, 'once')
    const waited = execute(server, 'once', { mark: 'stopped' }, { wait: true })
    await expect.poll(() => tools.count('stopped').begun).toBe(1)
    server.signal('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 1.5 * leaseMs))
    server.signal('SIGCONT')
    // It keeps the run where the database confirms that within a beat, and gives it up otherwise: both have happened by then.
    const beats = new Set<string>()
    const seen = async () => (await server.request('GET', '/queue')).body.workers[0]?.lastSeenAt
    await expect.poll(async () => beats.add(await seen()).size).toBeGreaterThan(3)
    tools.release()
    const { status, errorCode, attempt } = (await waited).body
    expect([attempt, status === 'SUCCESS' || errorCode === 'WORKER_LOST']).toEqual([1, true])
    expect(tools.count('stopped')).toEqual({ begun: 1, ended: status === 'SUCCESS' ? 1 : 0 })
    await server.stop()
    expect(await auditRuns(where)).toEqual([])
  },
)

describe('70: many workers that claim and sweep at once', () => {
  it.each(['embedded', 'PostgreSQL'])('70 (%s): claim and sweep each run once', async (engine) => {
    const database = await openMigrated(engine === 'PostgreSQL' ? { url: await postgres.createDatabase() } : {})
    onTestFinished(() => database.close())
    const { executions } = createStores(database)
    const caller = { workspace: 'default', actor: 'tester' }
    const limits = { all: 1000, perTool: 1000, perCaller: 1000 }
    const draft = () => ({
      id: randomUUID(),
      toolId: null,
      toolName: 'any',
      version: null,
      inputData: {},
      timeoutMs: 1000,
      callerId: 'tester',
      callerLabel: null,
      traceId: null,
      traceparent: null,
      idempotencyKey: null,
      bodyHash: null,
      maxAttempts: 1,
      definition: {},
      purpose: null,
      parentId: null,
    })
    const many = Array.from({ length: 60 }, draft)
    for (const each of many)
      await executions.create(caller, each, { how: 'queue', label: '', withinMs: 60_000, limits })
    const info = {
      kind: 'worker',
      version: '1',
      executors: [],
      labels: [],
      slots: 10,
      takesWork: true,
      draining: false,
    }
    const claims = await Promise.all(
      Array.from({ length: 12 }, async (_, at) => {
        await executions.renewLease({ ...info, worker: `worker-${at}`, kind: 'worker' }, 1)
        return executions.claim(`worker-${at}`, { limit: 10, labels: [''], leaseMs: 1 })
      }),
    )
    const claimed = claims.flat().map(({ execution }) => execution.id)
    expect([...claimed].sort()).toEqual(many.map(({ id }) => id).sort())
    await new Promise((resolve) => setTimeout(resolve, 50))
    const sweeps = await Promise.all(Array.from({ length: 12 }, () => executions.sweep()))
    const lost = sweeps.flatMap((swept) => swept.lost)
    expect([...lost].sort()).toEqual(many.map(({ id }) => id).sort())
  })

  it('70: two workers are killed and two servers sweep: every run is retried or ended once', async () => {
    const { worker, queue, tools, server, audit } = await openQueue(postgres, { servers: 2 })
    await tools.registerHeld(server, 'held_once')
    await tools.registerHeld(server, 'held_safe', { safe: true })
    const doomed = [await worker(), await worker()]
    const pair = `pair-${randomUUID()}`
    const marks = Array.from({ length: 8 }, (_, at) => `${pair}-${at}`)
    const ids = await Promise.all(marks.map((mark, at) => queue(at % 2 === 0 ? 'held_once' : 'held_safe', { mark })))
    await expect.poll(() => marks.filter((mark) => tools.count(mark).begun === 1).length).toBe(8)
    for (const each of doomed) each.signal('SIGKILL')
    await expect.poll(() => findProcesses(pair)).toEqual([])
    tools.release()
    await Promise.all([worker(), worker()])
    const ended = await Promise.all(ids.map((id) => untilEnded(server, id)))
    const said = ended.map(({ status, attempt }) => `${status} ${attempt}`)
    expect(said).toEqual(marks.map((_, at) => (at % 2 === 0 ? 'FAILED 1' : 'SUCCESS 2')))
    expect(marks.map((mark) => tools.count(mark).begun)).toEqual(marks.map((_, at) => (at % 2 === 0 ? 1 : 2)))
    await audit()
  }, 600_000)
})
