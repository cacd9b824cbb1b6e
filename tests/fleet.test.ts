import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { composeProcess } from '../src/app/compose.ts'
import { createToolCheck } from '../src/operations/checks/check-tool.ts'
import { registerExamples } from '../src/operations/registry/first-start.ts'
import { createStores, type Database, migrate, openDatabase } from '../src/storage/index.ts'
import { childrenOf, commandOf } from './faults/processes.ts'
import { query } from './support/query-database.ts'
import { runCli } from './support/run-cli.ts'
import { type SharedPostgres, sharedPostgres } from './support/start-postgres.ts'
import { ask, startServer, type TestServer } from './support/start-server.ts'
import { startWorker, type TestWorker } from './support/start-worker.ts'
import { lastingFolder, tempScript } from './support/temp-folder.ts'
import { execute, registerCommand, untilEnded } from './support/traced-tools.ts'

let postgres: SharedPostgres
let [url, folder] = ['', '']
let database: Database
let [first, second] = [undefined as unknown as TestServer, undefined as unknown as TestServer]
let worker: TestWorker

// Two servers that run no tool themselves, and a worker.
beforeAll(async () => {
  postgres = await sharedPostgres()
  url = await postgres.createDatabase()
  folder = lastingFolder()
  first = await startServer({
    limitedBecause: 'its tools write to files of the test',
    database: url,
    words: ['--no-worker', 'coreutils'],
  })
  second = await startServer({
    limitedBecause: 'its tools write to files of the test',
    database: url,
    words: ['--no-worker'],
  })
  worker = await startWorker({
    limitedBecause: 'its tools write to files of the test',
    database: url,
    words: ['--label', 'gpu', '--concurrency', '4'],
  })
  database = await openDatabase({ url })
  const args = [{ name: 'mark', positional: 1 }]
  const properties = { mark: { type: 'string' } }
  await registerCommand(first, 'say', tempScript('say', '#!/bin/sh\necho "$1"\n', folder), { args, properties })
  const begun = join(folder, 'begun')
  const script = `#!/bin/sh\necho "$1" >> ${begun}\nexec sleep 300\n`
  const config = { timeoutMs: 300_000 }
  await registerCommand(first, 'stay', tempScript('stay', script, folder), { args, properties, config })
})
afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop(), worker?.stop()])
  await database?.close()
  await postgres?.stop()
})

const hasBegun = (mark: string) => {
  const file = join(folder, 'begun')
  return existsSync(file) && readFileSync(file, 'utf8').split('\n').includes(mark)
}

describe('serve --no-worker', () => {
  it('runs no tool: calls that wait go through the queue and are answered when a worker has run them', async () => {
    const called = await execute(first, 'say', { mark: 'hello' }, { wait: true })
    expect(called).toMatchObject({ status: 200, body: { status: 'SUCCESS', outputData: 'hello\n' } })
    const invoked = await first.request('POST', '/llm/tools/say/invoke', { body: { arguments: { mark: 'model' } } })
    expect(invoked.body).toMatchObject({ success: true, result: 'model\n' })
    const { body } = await first.request('GET', '/queue')
    const [own] = body.workers.filter(({ kind }: { kind: string }) => kind === 'worker')
    expect(called.body.worker).toBe(own.worker)
    expect((await first.request('GET', `/executions/${invoked.body.executionId}`)).body.worker).toBe(own.worker)
    for (const { pid } of [first, second])
      expect(childrenOf(pid).filter((child) => commandOf(child).includes('launcher-process'))).toEqual([])
  })

  it('lists its workers, idle ones too, with what they can run and when they were last seen', async () => {
    const { body } = await second.request('GET', '/queue')
    const byKind = (kind: string) => body.workers.filter((each: { kind: string }) => each.kind === kind)
    expect(byKind('server')).toHaveLength(2)
    expect(byKind('server')[0]).toMatchObject({ takesWork: false, executors: [], alive: true })
    const [only] = byKind('worker')
    expect(only).toMatchObject({ takesWork: true, labels: ['gpu'], slots: 4, alive: true, draining: false })
    expect(only.executors).toEqual(expect.arrayContaining(['cli', 'http', 'python', 'shell']))
    const later = async () => (await second.request('GET', '/queue')).body.workers
    await expect
      .poll(async () => (await later()).find(({ worker: name }: { worker: string }) => name === only.worker).lastSeenAt)
      .not.toBe(only.lastSeenAt)
    const env = { TOOLDEX_URL: first.url, TOOLDEX_API_KEY: first.key }
    const { stdout } = await runCli(['executions', 'queue'], { env })
    expect(stdout).toContain('worker, idle')
    expect(stdout).toContain('0 of 4')
  })
})

describe('118: the callerId of a request', () => {
  it('is a label beside the authenticated caller, and runs can be filtered by it', async () => {
    const executed = await first.request('POST', '/tools/say/execute', {
      body: { input: { mark: 'a' }, wait: true, callerId: 'agent 7' },
    })
    const invoked = await first.request('POST', '/llm/tools/say/invoke', {
      body: { arguments: { mark: 'b' }, callerId: 'agent 7' },
    })
    expect(executed.body).toMatchObject({ callerId: 'key:admin', callerLabel: 'agent 7' })
    const ids = [invoked.body.executionId, executed.body.id]
    const { body } = await second.request('GET', '/executions?callerLabel=agent%207')
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(body.items[0]).toMatchObject({ callerId: 'key:admin', callerLabel: 'agent 7' })
    expect((await second.request('GET', '/executions?callerLabel=agent%208')).body.items).toEqual([])
    expect((await second.request('GET', '/executions?caller=agent%207')).body.items).toEqual([])
    const env = { TOOLDEX_URL: first.url, TOOLDEX_API_KEY: first.key }
    const listed = await runCli(['executions', 'list', '--caller-label', 'agent 7', '--json'], { env })
    expect(JSON.parse(listed.stdout).items.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect((await runCli(['executions', 'get', executed.body.id], { env })).stdout).toMatch(/label: +agent 7/)
  })
})

describe('a key that is revoked at another server', () => {
  it('ends its waiting calls, its streams and what it has queued', async () => {
    const made = await first.request('POST', '/keys', { body: { name: 'leaving', scopes: ['call'] } })
    const key = made.body.secret as string
    const waited = execute(first, 'stay', { mark: 'waited' }, { wait: true, key })
    await expect.poll(() => hasBegun('waited')).toBe(true)
    const { body } = await first.request('GET', '/executions?tool=stay&status=RUNNING')
    const [{ id }] = body.items
    const headers = { authorization: `Bearer ${key}` }
    const stream = await fetch(`${first.url}/api/v1/executions/${id}/events`, { headers })
    expect(stream.status).toBe(200)
    await registerCommand(first, 'nobody_runs', 'true', { config: { worker: 'no-such-label' } })
    const queued = await execute(first, 'nobody_runs', {}, { key })
    expect(queued.body.status).toBe('PENDING')
    expect((await second.request('DELETE', '/keys/leaving')).status).toBe(200)
    expect(await waited).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    expect(await stream.text()).not.toContain('event: end')
    expect(await untilEnded(second, id)).toMatchObject({ status: 'CANCELLED' })
    expect(await untilEnded(second, queued.body.id)).toMatchObject({
      status: 'CANCELLED',
      errorCode: 'EXECUTION_CANCELLED',
      errorMessage: expect.stringContaining('revoked'),
    })
  })
})

it('lists the runs of a tool by an index where there are 100,000', async () => {
  const rows = `insert into tool_executions (workspace_id, tool_name, input_data, status, completed_at)
    select 'default', case when n % 50000 = 0 then 'rare' else 'common_' || n % 10 end, '{}', 'SUCCESS', now()
    from generate_series(1, 100000) n`
  await database.slow.execute(sql.raw(rows))
  await database.slow.execute(sql`analyze tool_executions`)
  const scans = async () => {
    const text = `select idx_scan::int as scans from pg_stat_user_indexes where indexrelname = 'tool_executions_of_tool_name'`
    const [row] = await query<{ scans: number }>(database, text)
    return row?.scans ?? 0
  }
  const before = await scans()
  expect((await second.request('GET', '/executions?tool=rare')).body.items).toHaveLength(2)
  await expect.poll(scans).toBeGreaterThan(before)
})

describe('/readyz', () => {
  const readiness = async () => ask(`${first.url}/readyz`, 'GET')

  it('reports a schema that is newer than the process', async () => {
    expect((await readiness()).body).toEqual({ status: 'ready' })
    await database.db.execute(sql`insert into tooldex_migrations (name, hash) values ('9999_later', 'x')`)
    const { status, body } = await readiness()
    expect([status, body.warnings]).toEqual([200, [expect.stringContaining('9999_later')]])
    await database.db.execute(sql`delete from tooldex_migrations where name = '9999_later'`)
  })

  it('is 503 while the database accepts no writes, with the reason, which is logged', async () => {
    const name = new URL(url).pathname.slice(1)
    const owner = await openDatabase({ url: url.replace(`/${name}`, '/postgres') })
    onTestFinished(() => owner.close())
    const setReadOnly = async (value: 'on' | 'off') => {
      await owner.db.execute(sql.raw(`alter database ${name} set default_transaction_read_only = ${value}`))
      const own = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`
      await owner.db.execute(sql.raw(own))
    }
    await setReadOnly('on')
    await expect.poll(readiness).toMatchObject({ status: 503, body: { detail: expect.stringContaining('read-only') } })
    await expect.poll(() => first.stderr()).toContain('accepts no writes')
    await setReadOnly('off')
    await expect.poll(async () => (await readiness()).status).toBe(200)
  })
})

it('registers the examples once where three servers start at once on an empty database', async () => {
  const empty = await postgres.createDatabase()
  const open = async () => {
    const own = await openDatabase({ url: empty })
    await migrate(own)
    const context = {
      ...composeProcess({ configs: [] }),
      registry: { stores: createStores(own), check: createToolCheck({}) },
    }
    return { own, context }
  }
  const servers = await Promise.all([open(), open(), open()])
  await Promise.all(servers.map(({ context }) => registerExamples(context)))
  const [{ context }] = servers
  const { items } = await context.registry.stores.tools.list('default', { limit: 100 })
  expect(items.map(({ version }) => version)).toEqual([1, 1, 1])
  await Promise.all(servers.map(({ own }) => own.close()))
})
