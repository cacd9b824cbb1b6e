import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { auditRuns, keepHistory, queryRuns } from '../support/audit-runs.ts'
import { onEachWorld } from '../support/each-world.ts'
import { expectProblem } from '../support/rest.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { startWorker } from '../support/start-worker.ts'
import { tempFolder, tempScript } from '../support/temp-folder.ts'
import { execute, registerCommand, TracedTools, untilEnded, untilQuiet } from '../support/traced-tools.ts'
import { findProcesses, peakDuring } from './processes.ts'

let postgres: SharedPostgres
beforeAll(async () => {
  postgres = await sharedPostgres()
})
afterAll(() => postgres.stop())

const times = <Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))
const makeKey = async (server: TestServer, name: string): Promise<string> =>
  (await server.request('POST', '/keys', { body: { name, scopes: ['call', 'read'] } })).body.secret

/**
 * On a busy machine this process may open a connection and send its headers too late for the server, which then closes it.
 * A call that was received nevertheless would be begun twice, and fail the test.
 */
async function retryUnsent<Result>(send: () => Promise<Result>): Promise<Result> {
  for (;;)
    try {
      return await send()
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
      if (code !== 'ECONNRESET' && code !== 'UND_ERR_SOCKET') throw error
    }
}

onEachWorld('more calls than there is room for', { words: ['--concurrency', '8'] }, (world) => {
  it('81: 1000 calls, 8 at once: never more children, callers take turns, a rejected caller gets the time to retry', async () => {
    const server = world.server()
    const tools = new TracedTools(tempFolder())
    await tools.registerHeld(server, 'short')
    const [noisy, quiet] = [await makeKey(server, 'noisy'), await makeKey(server, 'quiet')]
    const call = (mark: string, key: string) =>
      retryUnsent(() => execute(server, 'short', { mark }, { wait: true, key }))
    const crowd = `noisy-${randomUUID()}`
    // A shell that is about to start its sleep is there twice for a moment.
    const children = () =>
      new Set(findProcesses(crowd).map((line) => line.slice(line.indexOf(crowd)).split(' ')[0])).size
    const waitingOf = async (name: string) =>
      (await server.request('GET', `/executions?status=PENDING&caller=key:${name}&limit=100`)).body.items.length
    const [answers, peak] = await peakDuring(children, async () => {
      let settled = 0
      const many = times(960, (at) => call(`${crowd}-${at}`, noisy).finally(() => settled++))
      // All have been received by then: those that were not refused run or wait.
      await expect.poll(() => 960 - settled, { timeout: 300_000 }).toBeLessThanOrEqual(210)
      const few = times(40, (at) => call(`quiet-${at}`, quiet))
      await expect.poll(() => waitingOf('quiet')).toBe(40)
      const before = tools.begun().length
      tools.release()
      expect((await few).map(({ status }) => status)).toEqual(Array(40).fill(200))
      // All of the quiet one had their turns before the noisy one had many more than as many.
      const since = tools.begun().slice(before)
      expect(since.findLastIndex((mark) => mark.startsWith('quiet'))).toBeLessThan(140)
      return [...(await many), ...(await few)]
    })
    expect(peak).toBeGreaterThan(0)
    expect(peak).toBeLessThanOrEqual(8)
    const [ran, refused] = [
      answers.filter(({ status }) => status === 200),
      answers.filter(({ status }) => status !== 200),
    ]
    for (const answer of refused) {
      expectProblem(answer, 429, 'TOO_BUSY')
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(refused.length).toBeGreaterThan(0)
    for (const { body } of ran) expect(body.status).toBe('SUCCESS')
    // Nothing is dropped in silence: what was not refused was run once, and what was refused left nothing behind.
    expect(tools.begun()).toHaveLength(ran.length)
    expect(new Set(tools.begun()).size).toBe(ran.length)
    expect(ran.length + refused.length).toBe(1000)
  }, 600_000)

  it('81: callers take turns in the queue', async () => {
    const server = world.server()
    const tools = new TracedTools(tempFolder())
    await tools.registerHeld(server, 'turns')
    const [noisy, quiet] = [await makeKey(server, 'noisy 2'), await makeKey(server, 'quiet 2')]
    const queue = async (mark: string, key: string) =>
      (await execute(server, 'turns', { mark }, { key })).body.id as string
    const many: string[] = []
    for (let at = 0; at < 60; at++) many.push(await queue(`many-${at}`, noisy))
    await expect.poll(() => tools.begun().length).toBe(8)
    const few: string[] = []
    for (let at = 0; at < 8; at++) few.push(await queue(`few-${at}`, quiet))
    tools.release()
    const ended = []
    for (const id of [...many, ...few]) ended.push(await untilEnded(server, id))
    for (const { status } of ended) expect(status).toBe('SUCCESS')
    expect(
      tools
        .begun()
        .slice(8)
        .findLastIndex((mark) => mark.startsWith('few')),
    ).toBeLessThan(40)
    const started = ended.slice(0, many.length).map(({ startedAt }, at) => ({ at, startedAt: Date.parse(startedAt) }))
    // Eight begin at once, so each is at most that far from its place.
    for (const [place, { at }] of started.sort((a, b) => a.startedAt - b.startedAt || a.at - b.at).entries())
      expect(Math.abs(at - place)).toBeLessThan(16)
  }, 600_000)
})

it.each(['embedded', 'PostgreSQL'])(
  '100 calls run at the same time at --concurrency 100 (%s)',
  async (engine) => {
    const home = tempFolder()
    const database = engine === 'PostgreSQL' ? await postgres.createDatabase() : undefined
    const where = database === undefined ? { home } : { url: database }
    await keepHistory(where)
    const server = await startServer({
      limitedBecause: 'load is the subject',
      home,
      database,
      words: ['--concurrency', '100'],
    })
    onTestFinished(() => server.stop())
    // Each waits until all the others are there.
    const barrier =
      '#!/bin/sh\ncd "$(dirname "$0")"\necho x >> there\nuntil [ "$(wc -l < there)" -ge 100 ]; do sleep 0.5; done\n'
    await registerCommand(server, 'meet', tempScript('meet', barrier))
    const answers = await times(100, () => execute(server, 'meet', {}, { wait: true, timeoutMs: 500_000 }))
    expect(answers.map(({ body }) => body.status)).toEqual(Array(100).fill('SUCCESS'))
    await server.stop()
    expect(await auditRuns(where)).toEqual([])
  },
  600_000,
)

it('1000 queued calls are run by 2 workers, each exactly once', async () => {
  const database = await postgres.createDatabase()
  await keepHistory({ url: database })
  const tools = new TracedTools(tempFolder())
  const server = await startServer({ limitedBecause: 'load is the subject', database, words: ['--no-worker'] })
  onTestFinished(() => server.stop())
  await tools.registerQuick(server, 'quick')
  const workers = await Promise.all([
    startWorker({ limitedBecause: 'load is the subject', database }),
    startWorker({ limitedBecause: 'load is the subject', database }),
  ])
  onTestFinished(() => Promise.all(workers.map((worker) => worker.stop())).then(() => {}))
  const answers: string[] = []
  for (let start = 0; start < 1000; start += 50) {
    const made = await times(50, async (at) => (await execute(server, 'quick', { mark: `each-${start + at}` })).body.id)
    answers.push(...made)
  }
  expect(new Set(answers).size).toBe(1000)
  await untilQuiet(server, 500_000)
  expect([...tools.begun()].sort()).toEqual(Array.from({ length: 1000 }, (_, at) => `each-${at}`).sort())
  const counted = await queryRuns<{ status: string; attempt: number; count: number; workers: number }>(
    { url: database },
    'select status, attempt, count(*)::int as count, count(distinct worker)::int as workers from tool_executions group by 1, 2',
  )
  expect(counted).toEqual([{ status: 'SUCCESS', attempt: 1, count: 1000, workers: 2 }])
  expect(await auditRuns({ url: database })).toEqual([])
}, 600_000)
