import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createStores, openDatabase } from '../../src/storage/index.ts'
import { auditRuns, keepHistory, queryRuns } from '../support/audit-runs.ts'
import { openMigrated } from '../support/migrated-database.ts'
import { query } from '../support/query-database.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { startProxy } from '../support/start-proxy.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { startWorker } from '../support/start-worker.ts'
import { tempFolder, tempScript } from '../support/temp-folder.ts'
import { execute, registerCommand, TracedTools, untilEnded, untilQuiet } from '../support/traced-tools.ts'
import { faultyMain } from './crash-loop.ts'
import { findProcesses, uniqueSeconds } from './processes.ts'

const leaseMs = 1500
const env = { TOOLDEX_LEASE_MS: String(leaseMs) }

let postgres: SharedPostgres
beforeAll(async () => {
  postgres = await sharedPostgres()
}, 240_000)
afterAll(() => postgres.stop())

/** A server that takes no queued work, and what workers need to take it; the promises are audited at the end. */
async function openQueue({ servers = 1, env: more = env }: { servers?: number; env?: typeof env } = {}) {
  const database = await postgres.createDatabase()
  await keepHistory({ url: database })
  const folder = tempFolder()
  const tools = new TracedTools(folder)
  const started: TestServer[] = []
  for (let count = 0; count < servers; count++)
    started.push(await startServer({ database, env: more, words: ['--no-worker'] }))
  onTestFinished(async () => {
    for (const server of started) await server.stop()
  })
  const [server] = started as [TestServer]
  await tools.register(server, 'once')
  await tools.register(server, 'safe', { safe: true })
  const worker = async (options: Partial<Parameters<typeof startWorker>[0]> = {}) => {
    const one = await startWorker({ database, ...options, env: { ...more, ...options.env } })
    onTestFinished(() => one.stop())
    return one
  }
  const queue = async (tool: string, input: object) => (await execute(server, tool, input)).body.id as string
  const audit = async () => {
    await untilQuiet(server)
    expect(await auditRuns({ url: database })).toEqual([])
  }
  return { database, folder, tools, server, worker, queue, audit }
}

describe('67: a process that ends before it ever said that it runs', () => {
  it('67: killed right after it took a run, the run is swept', async () => {
    const { folder, server, worker, queue, tools, audit } = await openQueue()
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

  it.each(['embedded', 'PostgreSQL'])(
    '67 (%s): a row without any lease is swept by its age',
    async (engine) => {
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
      const young = await insert('RUNNING', 'now()', 'now()')
      const server = await startServer({ home, database, env })
      onTestFinished(() => server.stop())
      for (const id of [stale, neverStarted])
        expect(await untilEnded(server, id)).toMatchObject({ status: 'FAILED', errorCode: 'WORKER_LOST' })
      expect((await server.request('GET', `/executions/${young}`)).body.status).toBe('RUNNING')
    },
    90_000,
  )
})

describe('68: a worker that is held up past its lease', () => {
  it('68: its late result is refused, and it goes on working', async () => {
    const { server, worker, queue, tools, audit } = await openQueue()
    const slow = await worker()
    const id = await queue('once', { mark: 'late', seconds: 2 })
    await expect.poll(() => tools.count('late').begun).toBe(1)
    slow.signal('SIGSTOP')
    const swept = await untilEnded(server, id)
    expect(swept).toMatchObject({ status: 'FAILED', errorCode: 'WORKER_LOST', attempt: 1 })
    await expect.poll(() => tools.count('late').ended).toBe(1)
    slow.signal('SIGCONT')
    await expect.poll(() => slow.stderr()).toMatch(/came too late and was refused|was lost and is left to others/)
    expect((await server.request('GET', `/executions/${id}`)).body).toEqual(swept)
    const next = await untilEnded(server, await queue('once', { mark: 'next' }))
    expect(next.status).toBe('SUCCESS')
    await audit()
  })

  it('68: a run that another took over is the other’s, and the first kills its child', async () => {
    const { server, worker, queue, tools, audit } = await openQueue()
    const first = await worker()
    const seconds = 20
    const id = await queue('safe', { mark: 'taken-over', seconds })
    await expect.poll(() => tools.count('taken-over').begun).toBe(1)
    first.signal('SIGSTOP')
    const second = await worker()
    await expect.poll(() => tools.count('taken-over').begun).toBe(2)
    expect(findProcesses('taken-over').length).toBeGreaterThanOrEqual(2)
    first.signal('SIGCONT')
    const running = () => findProcesses('taken-over').filter((line) => line.startsWith('/bin/sh')).length
    await expect.poll(running).toBe(1)
    expect(await untilEnded(server, id, 60_000)).toMatchObject({ status: 'SUCCESS', attempt: 2 })
    expect(tools.count('taken-over')).toEqual({ begun: 2, ended: 1 })
    expect(second.stderr()).not.toContain('refused')
    await audit()
  }, 240_000)
})

it.each(['embedded', 'PostgreSQL'])(
  '68 (%s): a server that was suspended, and whose runs no other took, runs each once',
  async (engine) => {
    const home = tempFolder()
    const database = engine === 'PostgreSQL' ? await postgres.createDatabase() : undefined
    const where = database === undefined ? { home } : { url: database }
    await keepHistory(where)
    const server = await startServer({ home, database, env })
    onTestFinished(() => server.stop())
    const tools = new TracedTools(home)
    await tools.register(server, 'once', { seconds: 5 })
    const waited = execute(server, 'once', { mark: 'stopped' }, { wait: true })
    await expect.poll(() => tools.count('stopped').begun).toBe(1)
    server.signal('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 2 * leaseMs))
    server.signal('SIGCONT')
    // It keeps the run where the database confirms that within a beat, and gives it up otherwise.
    const { status, errorCode, attempt } = (await waited).body
    expect([attempt, status === 'SUCCESS' || errorCode === 'WORKER_LOST']).toEqual([1, true])
    expect(tools.count('stopped')).toEqual({ begun: 1, ended: status === 'SUCCESS' ? 1 : 0 })
    await server.stop()
    expect(await auditRuns(where)).toEqual([])
  },
  90_000,
)

describe('69: a worker that is cut off from the database without the connection being closed', () => {
  const patient = { TOOLDEX_LEASE_MS: '5000' }

  /** A worker behind a proxy that can swallow all bytes. */
  async function openCutOff() {
    const queue = await openQueue({ env: patient })
    const proxy = await startProxy(postgres.port)
    onTestFinished(() => proxy.stop())
    const database = queue.database.replace(`:${postgres.port}/`, `:${proxy.port}/`)
    const cut = await queue.worker({ database })
    return { ...queue, cut, proxy }
  }

  it('69: ends its tool before the run is given up as lost', async () => {
    const { server, cut, proxy, queue, audit } = await openCutOff()
    const seconds = uniqueSeconds()
    await registerCommand(server, 'sleeper', `sleep ${seconds}`, { config: { timeoutMs: 120_000 } })
    const id = await queue('sleeper', {})
    const children = () => findProcesses(`sleep ${seconds}`).length
    await expect.poll(children).toBeGreaterThan(0)
    proxy.mode = 'half-open'
    expect(await untilEnded(server, id)).toMatchObject({ status: 'FAILED', errorCode: 'WORKER_LOST' })
    expect(children()).toBe(0)
    cut.signal('SIGKILL')
    await audit()
  })

  it('69: reports its run as lost itself where the database is back before another process does, and goes on', async () => {
    const { server, proxy, queue, audit } = await openCutOff()
    const seconds = uniqueSeconds()
    await registerCommand(server, 'sleeper', `sleep ${seconds}`, { config: { timeoutMs: 120_000 } })
    const id = await queue('sleeper', {})
    const children = () => findProcesses(`sleep ${seconds}`).length
    await expect.poll(children).toBeGreaterThan(0)
    proxy.mode = 'half-open'
    await expect.poll(children, { interval: 20 }).toBe(0)
    proxy.mode = 'good'
    expect(await untilEnded(server, id, 90_000)).toMatchObject({ status: 'FAILED', errorCode: 'WORKER_LOST' })
    const next = await queue('once', { mark: 'next' })
    expect(await untilEnded(server, next, 90_000)).toMatchObject({ status: 'SUCCESS' })
    await audit()
  }, 240_000)

  it('69: ends its tool before another worker runs it again', async () => {
    const { folder, server, cut, proxy, worker, queue, audit } = await openCutOff()
    const [trace, goOn] = [join(folder, 'attempts'), join(folder, 'go-on')]
    // The lock of a file goes with the last process that has it open.
    const script = `#!/bin/sh
exec 9>>${trace}.lock
if flock -n 9; then echo alone >> ${trace}; else echo overlap >> ${trace}; fi
while [ ! -e ${goOn} ]; do sleep 0.1; done
`
    const options = { annotations: { readOnlyHint: true }, config: { timeoutMs: 120_000 } }
    await registerCommand(server, 'locked', tempScript('locked', script, folder), options)
    const id = await queue('locked', {})
    const attempts = () => (existsSync(trace) ? readFileSync(trace, 'utf8').split('\n').slice(0, -1) : [])
    await expect.poll(attempts).toEqual(['alone'])
    await worker()
    proxy.mode = 'half-open'
    await expect.poll(() => attempts().length).toBe(2)
    expect(attempts()).toEqual(['alone', 'alone'])
    writeFileSync(goOn, '')
    expect(await untilEnded(server, id)).toMatchObject({ status: 'SUCCESS', attempt: 2 })
    cut.signal('SIGKILL')
    await audit()
  })
})

it('69: a lock on the table of executions for longer than a lease loses no run', async () => {
  const { database, folder, server, worker, queue, audit } = await openQueue()
  await worker()
  const [begun, goOn] = [join(folder, 'begun'), join(folder, 'go-on')]
  const script = `#!/bin/sh\necho begun >> ${begun}\nwhile [ ! -e ${goOn} ]; do sleep 0.1; done\n`
  const config = { config: { timeoutMs: 120_000 } }
  await registerCommand(server, 'steady', tempScript('steady', script, folder), config)
  const id = await queue('steady', {})
  await expect.poll(() => existsSync(begun)).toBe(true)
  const other = await openDatabase({ url: database })
  onTestFinished(() => other.close())
  await other.slow.transaction(async (locked) => {
    await locked.execute(sql`lock table tool_executions in access exclusive mode`)
    const renewed = `select bool_and(seen_at > now() - interval '${leaseMs / 2} milliseconds') as renewed from workers`
    const [{ since }] = (await query(other, 'select now()::text as since')) as [{ since: string }]
    const past = `${renewed} having now() > '${since}'::timestamptz + interval '${3 * leaseMs} milliseconds'`
    await expect.poll(() => query(other, past)).toEqual([{ renewed: true }])
  })
  writeFileSync(goOn, '')
  expect(await untilEnded(server, id)).toMatchObject({ status: 'SUCCESS', attempt: 1 })
  expect(readFileSync(begun, 'utf8')).toBe('begun\n')
  await audit()
})

describe('70: many take and many sweep', () => {
  it.each(['embedded', 'PostgreSQL'])('70 (%s): one claim and one sweep for each run', async (engine) => {
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

  it('70: two workers are killed, two servers sweep: every run is retried or ended once', async () => {
    const { worker, queue, tools, server, audit } = await openQueue({ servers: 2 })
    const doomed = [await worker(), await worker()]
    const marks = Array.from({ length: 8 }, (_, at) => `pair-${at}`)
    const ids = await Promise.all(marks.map((mark, at) => queue(at % 2 === 0 ? 'once' : 'safe', { mark, seconds: 5 })))
    await expect.poll(() => marks.filter((mark) => tools.count(mark).begun === 1).length).toBe(8)
    for (const each of doomed) each.signal('SIGKILL')
    await Promise.all([worker(), worker()])
    const ended = await Promise.all(ids.map((id) => untilEnded(server, id, 60_000)))
    const said = ended.map(({ status, attempt }) => `${status} ${attempt}`)
    expect(said).toEqual(marks.map((_, at) => (at % 2 === 0 ? 'FAILED 1' : 'SUCCESS 2')))
    expect(marks.map((mark) => tools.count(mark).begun)).toEqual(marks.map((_, at) => (at % 2 === 0 ? 1 : 2)))
    await audit()
  }, 240_000)
})
