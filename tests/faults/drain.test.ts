import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { auditRuns, keepHistory, queryRuns } from '../support/audit-runs.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { ask, startServer } from '../support/start-server.ts'
import { startWorker } from '../support/start-worker.ts'
import { lastingFolder, tempScript } from '../support/temp-folder.ts'
import { execute, registerCommand, TracedTools, untilQuiet } from '../support/traced-tools.ts'
import { childrenOf, commandOf, findProcesses, uniqueSeconds } from './processes.ts'

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
  const start = (...words: string[]) =>
    startServer({
      limitedBecause: 'its tools write to files of the test',
      home,
      database,
      words: ['--concurrency', '4', ...words],
    })
  return { where, start, tools: new TracedTools(home) }
}

describe.each(['embedded', 'PostgreSQL'])('72: SIGTERM (%s)', (engine) => {
  it('72: during 20 calls: running calls end, the others are refused or wait for the next start', async () => {
    const { where, start, tools } = await open(engine)
    const server = await start('--drain', '120')
    await tools.registerHeld(server, 'once')
    const queue = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, at) => execute(server, 'once', { mark: `queued-${from + at}` })),
      )
    const begunBy = (count: number) => expect.poll(() => tools.begun().length).toBe(count)
    const queued = await queue(0, 2)
    await begunBy(2)
    const waited = Array.from({ length: 10 }, (_, at) =>
      execute(server, 'once', { mark: `waited-${at}` }, { wait: true }),
    )
    await begunBy(4)
    // A call that is received after the signal is refused: all must be there before it.
    const waiting = async () => (await server.request('GET', '/executions?status=PENDING&limit=100')).body.items
    await expect.poll(waiting).toHaveLength(8)
    queued.push(...(await queue(2, 10)))
    expect(queued.map(({ status }) => status)).toEqual(Array(10).fill(202))
    server.signal('SIGTERM')
    const refused = expect.poll(() =>
      execute(server, 'once', { mark: 'too late' }, { wait: true }).then(
        ({ status }) => status,
        () => 503,
      ),
    )
    await refused.toBe(503)
    tools.release()
    const answers = await Promise.all(waited)
    expect(await server.ended).toBe(0)
    expect(tools.begun()).toHaveLength(4)
    expect(tools.count('too late').begun).toBe(0)
    for (const { status, body } of answers) {
      expect([200, 202]).toContain(status)
      if (body.status !== 'SUCCESS') expect([body.status, body.errorCode]).toEqual(['CANCELLED', 'SHUTTING_DOWN'])
      expect(tools.count(body.inputData.mark).ended).toBe(body.status === 'SUCCESS' ? 1 : 0)
    }
    expect(answers.filter(({ body }) => body.status === 'SUCCESS')).toHaveLength(2)
    expect(await queryRuns(where, `select id from tool_executions where status = 'RUNNING'`)).toEqual([])
    const next = await start()
    await untilQuiet(next)
    await next.stop()
    for (let at = 0; at < 10; at++) expect(tools.count(`queued-${at}`)).toEqual({ begun: 1, ended: 1 })
    expect(await auditRuns(where)).toEqual([])
  }, 600_000)
})

it('72: calls that do not end in time are CANCELLED, their children are gone, and the exit code is 0', async () => {
  const one = async (engine: string) => {
    const { where, start } = await open(engine)
    const server = await start('--drain', '10')
    const seconds = `3${uniqueSeconds()}`
    await registerCommand(server, 'endless', `sleep ${seconds}`, { config: { timeoutMs: 300_000 } })
    const waited = [execute(server, 'endless', {}, { wait: true }), execute(server, 'endless', {}, { wait: true })]
    await execute(server, 'endless', {})
    // Each is nsenter and its program where there are namespaces.
    const running = () => findProcesses(`sleep ${seconds}`).filter((line) => !line.includes('nsenter')).length
    await expect.poll(running).toBe(3)
    server.signal('SIGTERM')
    // It still listens while it drains.
    const readiness = async () => (await ask(`${server.url}/readyz`, 'GET')).body
    await expect.poll(readiness).toMatchObject({ status: 503, code: 'SHUTTING_DOWN' })
    expect((await server.request('GET', '/executions')).status).toBe(200)
    const answers = await Promise.all(waited)
    for (const { body } of answers) expect([body.status, body.errorCode]).toEqual(['CANCELLED', 'SHUTTING_DOWN'])
    expect(await server.ended).toBe(0)
    expect(server.stderr()).toMatch(/waiting up to 10 s for 3 runs: endless \(/)
    expect(findProcesses(`sleep ${seconds}`)).toEqual([])
    expect(await auditRuns(where)).toEqual([])
  }
  await Promise.all([one('embedded'), one('PostgreSQL')])
}, 600_000)

it('72: a stopping worker ends its runs, and leaves the queue to others', async () => {
  const database = await postgres.createDatabase()
  await keepHistory({ url: database })
  const tools = new TracedTools(lastingFolder())
  const server = await startServer({
    limitedBecause: 'its tools write to files of the test',
    database,
    words: ['--no-worker'],
  })
  await tools.registerHeld(server, 'once')
  const first = await startWorker({
    limitedBecause: 'its tools write to files of the test',
    database,
    words: ['--concurrency', '2', '--drain', '120'],
  })
  for (let at = 0; at < 6; at++) await execute(server, 'once', { mark: `shift-${at}` })
  await expect.poll(() => tools.begun().length).toBe(2)
  first.signal('SIGTERM')
  await expect.poll(() => first.stderr()).toMatch(/waiting up to 120 s for 2 runs: once \(/)
  tools.release()
  expect(await first.ended).toBe(0)
  expect(tools.begun()).toHaveLength(2)
  const second = await startWorker({ limitedBecause: 'its tools write to files of the test', database })
  await untilQuiet(server)
  await second.stop()
  await server.stop()
  for (let at = 0; at < 6; at++) expect(tools.count(`shift-${at}`)).toEqual({ begun: 1, ended: 1 })
  expect(await auditRuns({ url: database })).toEqual([])
}, 600_000)

it('72: a stopping worker returns an idempotent run to the queue, and another worker runs it', async () => {
  const database = await postgres.createDatabase()
  await keepHistory({ url: database })
  const folder = lastingFolder()
  const [begun, goOn] = [join(folder, 'begun'), join(folder, 'go-on')]
  const script = `#!/bin/sh\necho begun >> ${begun}\nwhile [ ! -e ${goOn} ]; do sleep 0.1; done\n`
  const server = await startServer({
    limitedBecause: 'its tools write to files of the test',
    database,
    words: ['--no-worker'],
  })
  const options = { annotations: { idempotentHint: true }, config: { timeoutMs: 120_000 } }
  await registerCommand(server, 'patient', tempScript('patient', script, folder), options)
  const first = await startWorker({
    limitedBecause: 'its tools write to files of the test',
    database,
    words: ['--drain', '1'],
  })
  // The server runs no tool, so that the call is answered when a worker has run it.
  const waited = execute(server, 'patient', {}, { wait: true })
  const attempts = () => (existsSync(begun) ? readFileSync(begun, 'utf8').split('\n').length - 1 : 0)
  await expect.poll(attempts).toBe(1)
  const second = await startWorker({ limitedBecause: 'its tools write to files of the test', database })
  first.signal('SIGTERM')
  expect(await first.ended).toBe(0)
  expect(first.stderr()).toMatch(/waiting up to 1 s for 1 run: patient \(/)
  await expect.poll(attempts).toBe(2)
  writeFileSync(goOn, '')
  expect((await waited).body).toMatchObject({ status: 'SUCCESS', attempt: 2 })
  await second.stop()
  await server.stop()
  expect(await auditRuns({ url: database })).toEqual([])
}, 600_000)

it('72: runs of a killed launcher are retried where the tool is idempotent', async () => {
  const home = lastingFolder()
  await keepHistory({ home })
  const [begun, goOn] = [join(home, 'begun'), join(home, 'go-on')]
  const script = `#!/bin/sh\necho "$1" >> ${begun}\nwhile [ ! -e ${goOn} ]; do sleep 0.1; done\necho "$1"\n`
  const server = await startServer({ limitedBecause: 'its tools write to files of the test', home })
  const file = tempScript('marked', script, home)
  const more = { args: [{ name: 'mark', positional: 1 }], properties: { mark: { type: 'string' } } }
  await registerCommand(server, 'once', file, more)
  await registerCommand(server, 'safe', file, { ...more, annotations: { readOnlyHint: true } })
  const waited = ['once', 'safe'].map((tool) => execute(server, tool, { mark: tool }, { wait: true }))
  const marks = () => (existsSync(begun) ? readFileSync(begun, 'utf8').split('\n').slice(0, -1).sort() : [])
  await expect.poll(marks).toEqual(['once', 'safe'])
  const launchers = childrenOf(server.pid).filter((pid) => commandOf(pid).includes('launcher-process.js'))
  expect(launchers).toHaveLength(1)
  for (const pid of launchers) process.kill(pid, 'SIGKILL')
  await expect.poll(marks).toEqual(['once', 'safe', 'safe'])
  writeFileSync(goOn, '')
  const [once, safe] = await Promise.all(waited)
  expect(once?.body).toMatchObject({ status: 'FAILED', errorCode: 'WORKER_LOST', attempt: 1 })
  expect(safe?.body).toMatchObject({ status: 'SUCCESS', attempt: 2 })
  await server.stop()
  expect(await auditRuns({ home })).toEqual([])
}, 600_000)
