import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { auditRuns, keepHistory, queryRuns } from '../support/audit-runs.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { startServer } from '../support/start-server.ts'
import { startWorker } from '../support/start-worker.ts'
import { lastingFolder } from '../support/temp-folder.ts'
import { execute, registerCommand, TracedTools, untilQuiet } from '../support/traced-tools.ts'
import { findProcesses, uniqueSeconds } from './processes.ts'

let postgres: SharedPostgres
beforeAll(async () => {
  postgres = await sharedPostgres()
})
afterAll(() => postgres.stop())

async function open(engine: string) {
  const home = lastingFolder()
  const database = engine === 'PostgreSQL' ? await postgres.createDatabase() : undefined
  const where = database === undefined ? { home } : { url: database }
  await keepHistory(where)
  const start = () => startServer({ home, database, words: ['--concurrency', '4'] })
  return { where, start, tools: new TracedTools(home) }
}

describe.concurrent.each(['embedded', 'PostgreSQL'])('72: SIGTERM (%s)', (engine) => {
  it('72: during 20 calls: those that run end, the others are refused or wait for the next start', async () => {
    const { where, start, tools } = await open(engine)
    const server = await start()
    await tools.register(server, 'once', { seconds: 2 })
    const waited = Array.from({ length: 10 }, (_, at) =>
      execute(server, 'once', { mark: `waited-${at}` }, { wait: true }),
    )
    const queued = await Promise.all(
      Array.from({ length: 10 }, (_, at) => execute(server, 'once', { mark: `queued-${at}` })),
    )
    expect(queued.map(({ status }) => status)).toEqual(Array(10).fill(202))
    await expect.poll(() => tools.begun().length).toBeGreaterThanOrEqual(4)
    server.signal('SIGTERM')
    const refused = expect.poll(() =>
      execute(server, 'once', { mark: 'too late' }, { wait: true }).then(
        ({ status }) => status,
        () => 503,
      ),
    )
    await refused.toBe(503)
    const begun = tools.begun().length
    const answers = await Promise.all(waited)
    expect(await server.ended).toBe(0)
    expect(tools.begun()).toHaveLength(begun)
    expect(tools.count('too late').begun).toBe(0)
    for (const { status, body } of answers) {
      expect([200, 202]).toContain(status)
      if (body.status !== 'SUCCESS') expect([body.status, body.errorCode]).toEqual(['CANCELLED', 'SHUTTING_DOWN'])
      expect(tools.count(body.inputData.mark).ended).toBe(body.status === 'SUCCESS' ? 1 : 0)
    }
    expect(answers.filter(({ body }) => body.status === 'SUCCESS').length).toBeGreaterThanOrEqual(1)
    expect(await queryRuns(where, `select id from tool_executions where status = 'RUNNING'`)).toEqual([])
    const next = await start()
    await untilQuiet(next)
    await next.stop()
    for (let at = 0; at < 10; at++) expect(tools.count(`queued-${at}`)).toEqual({ begun: 1, ended: 1 })
    expect(await auditRuns(where)).toEqual([])
  }, 240_000)
})

it.concurrent('72: calls that do not end in time are CANCELLED, their children gone, and the exit is clean', async () => {
  const one = async (engine: string) => {
    const { where, start } = await open(engine)
    const server = await start()
    const seconds = uniqueSeconds()
    await registerCommand(server, 'endless', `sleep ${seconds}`, { config: { timeoutMs: 300_000 } })
    const waited = [execute(server, 'endless', {}, { wait: true }), execute(server, 'endless', {}, { wait: true })]
    await execute(server, 'endless', {})
    // Each is nsenter and its program where there are namespaces.
    const running = () => findProcesses(`sleep ${seconds}`).filter((line) => !line.includes('nsenter')).length
    await expect.poll(running).toBe(3)
    server.signal('SIGTERM')
    const answers = await Promise.all(waited)
    for (const { body } of answers) expect([body.status, body.errorCode]).toEqual(['CANCELLED', 'SHUTTING_DOWN'])
    expect(await server.ended).toBe(0)
    expect(findProcesses(`sleep ${seconds}`)).toEqual([])
    expect(await auditRuns(where)).toEqual([])
  }
  await Promise.all([one('embedded'), one('PostgreSQL'), drainWorker()])
}, 240_000)

/** A worker ends what it runs, and leaves the rest to others. */
async function drainWorker(): Promise<void> {
  const database = await postgres.createDatabase()
  await keepHistory({ url: database })
  const tools = new TracedTools(lastingFolder())
  const server = await startServer({ database, words: ['--no-worker'] })
  await tools.register(server, 'once', { seconds: 3 })
  const first = await startWorker({ database, words: ['--concurrency', '2'] })
  for (let at = 0; at < 6; at++) await execute(server, 'once', { mark: `shift-${at}` })
  await expect.poll(() => tools.begun().length).toBe(2)
  first.signal('SIGTERM')
  expect(await first.ended).toBe(0)
  expect(tools.begun()).toHaveLength(2)
  const second = await startWorker({ database })
  await untilQuiet(server)
  await second.stop()
  await server.stop()
  for (let at = 0; at < 6; at++) expect(tools.count(`shift-${at}`)).toEqual({ begun: 1, ended: 1 })
  expect(await auditRuns({ url: database })).toEqual([])
}
