import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createStores, openDatabase } from '../src/storage/index.ts'
import { LabelValues, otherValue } from '../src/telemetry/process-metrics.ts'
import { onServer } from './support/each-engine.ts'
import { registerScript, scriptTool } from './support/registered-tools.ts'
import { expectProblem } from './support/rest.ts'
import { serveHere, workHere } from './support/serve-here.ts'
import { type SharedPostgres, sharedPostgres } from './support/start-postgres.ts'
import { ask, type TestServer, testKey } from './support/start-server.ts'
import { tempConfig } from './support/temp-config.ts'
import { lastingFolder } from './support/temp-folder.ts'

const gate = join(lastingFolder(), 'gate')
const config = `name: counted
command: sh
tools:
  - {name: do_well, description: Ends well, command: -c true}
  - {name: do_badly, description: Ends badly, command: -c false}
  - {name: take_long, description: Waits for a file, timeout: 170, command: "-c 'until [ -e ${gate} ]; do sleep 0.05; done'"}
`

const scrape = (server: Pick<TestServer, 'url'>, key?: string) => ask(`${server.url}/metrics`, 'GET', { key })

/** The value of a series; labels in the order they are written. */
function read(text: string, series: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return Number(line?.slice(series.length + 1) ?? Number.NaN)
}

const run = (server: TestServer, tool: string, body: object = { wait: true }) =>
  server.request('POST', `/tools/${tool}/execute`, { body })

onServer(
  'metrics',
  (server) => {
    it('need a key, in the one shape of refusals', async () => {
      expectProblem(await scrape(server()), 401, 'UNAUTHORIZED')
      expectProblem(await ask(`${server().url}/metrics`, 'POST', { key: testKey }), 405)
      const made = await server().request('POST', '/keys', { body: { name: 'watcher', scopes: ['read'] } })
      const answer = await scrape(server(), made.body.secret)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    })

    it('count runs by tool, state, code and isolation, and what the process is', async () => {
      for (const tool of ['do_well', 'do_well', 'do_badly']) await run(server(), tool)
      const { text } = await scrape(server(), testKey)
      expect(read(text, 'tooldex_executions_total{tool="do_well",status="SUCCESS"}')).toBe(2)
      expect(read(text, 'tooldex_executions_total{tool="do_badly",status="FAILED"}')).toBe(1)
      expect(read(text, 'tooldex_execution_duration_seconds_count{tool="do_well"}')).toBe(2)
      expect(read(text, 'tooldex_execution_duration_seconds_bucket{le="30",tool="do_well"}')).toBe(2)
      expect(read(text, 'tooldex_execution_failures_total{code="EXECUTION_FAILED"}')).toBe(1)
      expect(read(text, 'tooldex_execution_isolation_total{isolation="limited"}')).toBe(3)
      expect(read(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e7)
      expect(read(text, 'tooldex_swept_total{what="lost"}')).toBe(0)
      expect(text).toMatch(/^tooldex_info\{version="\d/m)
      for (const [, name] of text.matchAll(/^# TYPE (\S+)/gm)) expect(text.split(`# TYPE ${name} `)).toHaveLength(2)
    })

    it('show what waits and what runs, and for how long it waited', async () => {
      const seen = async (series: string) => read((await scrape(server(), testKey)).text, series)
      // A call may have waited for the slot of the one before it.
      const before = (await seen('tooldex_queue_wait_seconds_count')) || 0
      await Promise.all(Array.from({ length: 6 }, () => run(server(), 'take_long', {})))
      let text = ''
      const depth = (state: string) => read(text, `tooldex_queue_depth{state="${state}"}`)
      const least = async () => {
        text = (await scrape(server(), testKey)).text
        return Math.min(read(text, 'tooldex_executions_running'), depth('queued'), depth('running'))
      }
      await expect.poll(least).toBeGreaterThanOrEqual(1)
      await expect.poll(() => seen('tooldex_queue_depth{state="queued"}')).toBe(4)
      // From here on, each of the four waits for more than a second.
      const waited = await seen('tooldex_queue_oldest_seconds')
      await expect.poll(() => seen('tooldex_queue_oldest_seconds')).toBeGreaterThan(waited + 1)
      writeFileSync(gate, '')
      await expect.poll(() => seen('tooldex_queue_wait_seconds_count')).toBe(before + 6)
      // Four of them waited for the file.
      expect(await seen('tooldex_queue_wait_seconds_sum')).toBeGreaterThan(4)
      await expect.poll(() => seen('tooldex_executions_running')).toBe(0)
      await expect.poll(() => seen('tooldex_queue_depth{state="queued"}')).toBe(0)
    })

    it('are consistent with the start of a run that waited for a slot', async () => {
      rmSync(gate)
      const waited = Promise.all(Array.from({ length: 3 }, () => run(server(), 'take_long')))
      const waiting = async () => (await server().request('GET', '/executions?status=PENDING')).body.items
      await expect.poll(waiting).toHaveLength(1)
      writeFileSync(gate, '')
      const all = await waited
      for (const { body } of all) {
        const { body: row } = await server().request('GET', `/executions/${body.id}`)
        expect(Math.abs(Date.parse(body.startedAt) - Date.parse(row.startedAt)), body.id).toBeLessThanOrEqual(2)
      }
    })
  },
  // Its tools wait for a file of the test, and their isolation is counted.
  {
    words: ['--concurrency', '2', tempConfig('counted.yaml', config)],
    limitedBecause: 'its tools wait for files of the test',
  },
)

onServer(
  'metrics of what ends before it runs',
  (server) => {
    it('count each run that is cancelled, refused or expired while it waits, once', async () => {
      const asked = async (tool: string, word: string) =>
        (await server().request('POST', `/tools/${tool}/execute`, { body: { input: { word } } })).body.id as string
      await registerScript(server(), 'pays', { script: 'echo paid', annotations: { requiresApproval: true } })
      const worker = { worker: 'nobody' }
      const { executorConfig } = scriptTool('waits', { script: 'true' }, server().scripts)
      await registerScript(server(), 'waits', {
        script: 'true',
        more: { executorConfig: { ...executorConfig, ...worker } },
      })
      const [refused, stopped] = [await asked('pays', 'no'), await asked('waits', 'stop')]
      await asked('pays', 'late')
      await asked('waits', 'late')
      expect((await server().request('POST', `/executions/${refused}/refuse`)).status).toBe(200)
      const cancels = await Promise.all([1, 2, 3].map(() => server().request('POST', `/executions/${stopped}/cancel`)))
      expect(cancels.map(({ status }) => status)).toContain(200)
      const seen = async (series: string) => read((await scrape(server(), testKey)).text, series)
      const failures = (code: string) => seen(`tooldex_execution_failures_total{code="${code}"}`)
      for (const code of ['APPROVAL_REFUSED', 'EXECUTION_CANCELLED', 'APPROVAL_EXPIRED', 'QUEUE_EXPIRED'])
        await expect.poll(() => failures(code), { message: code }).toBe(1)
      for (const tool of ['pays', 'waits'])
        expect(await seen(`tooldex_executions_total{tool="${tool}",status="CANCELLED"}`), tool).toBe(2)
      expect(await seen('tooldex_executions_running')).toBe(0)
    })
  },
  { env: { TOOLDEX_QUEUE_MS: '8000', TOOLDEX_APPROVAL_MS: '8000', TOOLDEX_LEASE_MS: '1500' } },
)

describe('metrics of several workspaces and of workers', () => {
  const secret = 'key-of-the-other-workspace-0123456789'
  let postgres: SharedPostgres
  let server: Awaited<ReturnType<typeof serveHere>>
  let worker: Awaited<ReturnType<typeof workHere>>

  beforeAll(async () => {
    postgres = await sharedPostgres()
    const database = await postgres.createDatabase()
    server = await serveHere({ config, database, worker: false })
    worker = await workHere()
    const opened = await openDatabase({ url: database })
    const hash = createHash('sha256').update(secret).digest('hex')
    const draft = { name: 'admin', prefix: 'key', hash, scopes: ['admin'] } as const
    await createStores(opened).keys.create({ workspace: 'other', actor: 'test' }, draft)
    await opened.close()
  })
  afterAll(async () => {
    await worker?.stop()
    await server?.stop()
    await postgres?.stop()
  })

  it('name tools only of the workspace of the key', async () => {
    const body = { wait: true }
    await server.request('POST', '/api/v1/tools/do_badly/execute', { body })
    // The server runs no tools, so the worker counts them.
    const own = async () => (await ask(`${worker.url}/metrics`, 'GET', { key: testKey })).text
    await expect.poll(own).toContain('tool="do_badly"')
    const other = await ask(`${worker.url}/metrics`, 'GET', { key: secret })
    expect(other.status).toBe(200)
    expect(other.text).not.toContain('tool="')
    expect(other.text).not.toContain('code="')
    expect(read(other.text, 'tooldex_executions_running')).toBe(0)
    expect(other.text).toContain('process_cpu_seconds_total')
  })

  it('are shown by a worker too, which answers nothing else', async () => {
    const queued = await server.request('POST', '/api/v1/tools/do_well/execute', { body: {} })
    expect(queued.status).toBe(202)
    const seen = async () => (await ask(`${worker.url}/metrics`, 'GET', { key: testKey })).text
    await expect
      .poll(async () => read(await seen(), 'tooldex_executions_total{tool="do_well",status="SUCCESS"}'))
      .toBe(1)
    expect((await ask(`${worker.url}/metrics`, 'GET')).status).toBe(401)
    expect((await ask(`${worker.url}/healthz`, 'GET')).status).toBe(200)
    expect((await ask(`${worker.url}/api/v1/tools`, 'GET', { key: testKey })).status).toBeGreaterThanOrEqual(404)
  })
})

describe('labels', () => {
  it('have a bounded number of values', () => {
    const labels = new LabelValues(3)
    expect(['a', 'b', 'a', 'c', 'd', 'e', 'b'].map((each) => labels.of(each))).toEqual([
      'a',
      'b',
      'a',
      'c',
      otherValue,
      otherValue,
      'b',
    ])
  })
})
