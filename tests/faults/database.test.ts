import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Stores } from '../../src/contract/stores.ts'
import { guard } from '../../src/storage/guard.ts'
import { createStores, type Database, migrate, openDatabase, waitForDatabase } from '../../src/storage/index.ts'
import { newTool } from '../../src/storage/stores.suite.ts'
import { runCli } from '../support/run-cli.ts'
import { freePort, startPostgres, type TestPostgres } from '../support/start-postgres.ts'
import { caller, startTraffic, timed, waitUntil } from './database-traffic.ts'

let server: TestPostgres
let url: string
let database: Database
let stores: Stores
beforeAll(async () => {
  server = await startPostgres({ flags: ['-c', 'max_connections=16'] })
  url = await server.createDatabase()
  database = await openDatabase({ url })
  await migrate(database)
  stores = createStores(database)
})
afterAll(async () => {
  await database.close()
  await server.stop()
})

const codesOf = (failures: readonly unknown[]) =>
  new Set(failures.map((error) => (error as { code?: string }).code ?? error))

describe('faults: database server', () => {
  it.each(['fast', 'immediate', 'kill'] as const)('83: restart (%s) during traffic', async (how) => {
    let notices = 0
    const unlisten = await stores.feed.listen(() => void notices++)
    const traffic = startTraffic(stores)
    await waitUntil(() => traffic.acknowledged.length > 20)
    await server.halt(how)
    await waitUntil(() => traffic.failures.length > 10)
    await server.start()
    const back = performance.now()
    await waitUntil(() => traffic.lastAt() > back)
    const heard = notices
    await waitUntil(() => notices > heard)
    await traffic.stop()
    expect(codesOf(traffic.failures)).toEqual(new Set(['UNAVAILABLE']))
    for (const name of traffic.acknowledged) expect(await stores.tools.get('default', name)).toBeDefined()
    await unlisten()
  })

  it('83: a transaction whose connection is lost between two statements fails, and the process goes on', async () => {
    const lost = stores.transaction(async (inner) => {
      await inner.tools.create(caller, newTool({ name: 'never_there' }))
      const admin = postgres(url, { max: 1 })
      // It returns when the process of the connection has ended.
      await admin`select pg_terminate_backend(pid, 60000) from pg_stat_activity where application_name = 'tooldex'`
      await admin.end()
      await inner.tools.create(caller, newTool({ name: 'never_there_either' }))
    })
    await expect(lost).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    // Until their end is noticed, the other connections of the pool fail once as well.
    const find = async () => ((await stores.tools.get('default', 'never_there')) === undefined ? 'absent' : 'present')
    await expect.poll(() => find().catch(({ code }) => code)).toBe('absent')
  })

  it('85: every connection eaten: a bounded wait, UNAVAILABLE, and back again', async () => {
    const late = await openDatabase({ url })
    const own = createStores(late)
    const eaters = Array.from({ length: 20 }, () => postgres(url, { max: 1 }))
    await Promise.allSettled(eaters.map((eater) => eater`select 1`))
    const refused = own.tools.create(caller, newTool())
    const message = expect.stringContaining('too many clients')
    await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE', message })
    // A call that comes while there is no connection waits for one.
    const waiting = own.tools.create(caller, newTool())
    await Promise.all(eaters.map((eater) => eater.end()))
    expect(await waiting).toMatchObject({ version: 1 })
    await late.close()
  })

  it('87: a lock that is held on a tool: UNAVAILABLE after the lock timeout, reads are served', async () => {
    const tool = await stores.tools.create(caller, newTool())
    const other = postgres(url, { max: 1 })
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let locked = () => {}
    const isLocked = new Promise<void>((resolve) => {
      locked = resolve
    })
    const holding = other.begin(async (sql) => {
      await sql`select * from tools where id = ${tool.id} for update`
      locked()
      await held
    })
    await isLocked
    const waiting = Array.from({ length: 12 }, () => timed(stores.tools.transition(caller, tool.id, 'activate')))
    await new Promise((resolve) => setTimeout(resolve, 500))
    const single = await openDatabase({ url })
    const read = await timed(createStores(single).tools.get('default', tool.id))
    expect(read.code).toBe('ok')
    const ended = await Promise.all(waiting)
    expect(new Set(ended.map(({ code }) => code))).toEqual(new Set(['UNAVAILABLE']))
    release()
    await holding
    expect((await stores.tools.transition(caller, tool.id, 'activate')).status).toBe('ACTIVE')
    await Promise.all([other.end(), single.close()])
  })

  it('88: conflicting transactions are retried three times at most, in a real deadlock too', async () => {
    for (const code of ['40001', '40P01']) {
      let attempts = 0
      const failing = guard(async () => {
        attempts++
        throw Object.assign(new Error('conflict'), { code })
      })
      await expect(failing).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      expect(attempts).toBe(4)
    }
    const [a, b] = [await stores.tools.create(caller, newTool()), await stores.tools.create(caller, newTool())]
    const change = (at: number) => (now: { notes: string | null }) =>
      ({ ...now, notes: `${now.notes ?? ''}${at}` }) as never
    const both = (first: string, second: string, at: number) =>
      stores.transaction(async (inner) => {
        await inner.tools.change(caller, first, change(at))
        await new Promise((resolve) => setTimeout(resolve, 300))
        await inner.tools.change(caller, second, change(at))
      })
    await Promise.all([both(a.id, b.id, 1), both(b.id, a.id, 2)])
    for (const { id } of [a, b]) expect((await stores.tools.get('default', id))?.version).toBe(3)
  })

  it('89: no server at start: a command reports it and exits with 75; a waiting process continues when it is there', async () => {
    const port = await freePort()
    const gone = await runCli(['db', 'status'], { env: { DATABASE_URL: `postgres://u:secret@127.0.0.1:${port}/x` } })
    expect([gone.code, gone.stderr]).toEqual([75, expect.stringContaining(`127.0.0.1:${port}/x`)])
    expect(gone.stderr).not.toContain('secret')
    const wrong = await runCli(['db', 'status'], { env: { DATABASE_URL: url.replace('postgres@', 'wrong@') } })
    expect([wrong.code, wrong.stderr]).toEqual([75, expect.stringContaining('password')])
    await server.halt('fast')
    const early = await openDatabase({ url })
    const reasons: string[] = []
    const waiting = waitForDatabase(early, { ms: 150_000, onWait: (reason) => reasons.push(reason) })
    await expect.poll(() => reasons.length).toBe(1)
    await server.start()
    await waiting
    expect(reasons).toHaveLength(1)
    await early.close()
  })
})
