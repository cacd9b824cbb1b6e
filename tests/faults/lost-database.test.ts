import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/storage/index.ts'
import { query } from '../support/query-database.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { startProxy } from '../support/start-proxy.ts'
import { tempScript } from '../support/temp-folder.ts'
import { registerCommand, untilEnded } from '../support/traced-tools.ts'
import { leaseMs, openQueue } from './open-queue.ts'
import { findProcesses, uniqueSeconds } from './processes.ts'

let postgres: SharedPostgres
beforeAll(async () => {
  postgres = await sharedPostgres()
})
afterAll(() => postgres.stop())

describe('69: a worker whose connection to the database is silent but open', () => {
  // Two fifths of it are for ending the tool.
  const patient = { TOOLDEX_LEASE_MS: '8000' }

  /** A worker behind a proxy that can swallow all bytes. */
  async function openCutOff() {
    const queue = await openQueue(postgres, { env: patient })
    const proxy = await startProxy(postgres.port)
    onTestFinished(() => proxy.stop())
    const database = queue.database.replace(`:${postgres.port}/`, `:${proxy.port}/`)
    const cut = await queue.worker({ database })
    return { ...queue, cut, proxy }
  }

  it('69: ends its tool before the run is swept as lost', async () => {
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

  it('69: reports its run as lost itself where the database is back in time, and continues to work', async () => {
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
  }, 600_000)

  it('69: ends its tool before another worker retries the run', async () => {
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
  const { database, folder, server, worker, queue, audit } = await openQueue(postgres)
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
