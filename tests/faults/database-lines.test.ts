import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createStores, type Database, migrate, openDatabase } from '../../src/storage/index.ts'
import { newTool } from '../../src/storage/stores.suite.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { startProxy, type TestProxy } from '../support/start-proxy.ts'
import { caller, timed, waitUntil } from './database-traffic.ts'

let server: SharedPostgres
let proxy: TestProxy
let direct: Database
let url: string
// Shorter than what the bad lines take, and longer than a loaded machine takes on a good one.
const limits = { connectSeconds: 4, answerMs: 4000, statementMs: 3000, lockMs: 2000 }
beforeAll(async () => {
  server = await sharedPostgres()
  proxy = await startProxy(server.port)
  url = await server.createDatabase()
  direct = await openDatabase({ url })
  await migrate(direct)
})
afterAll(async () => {
  await direct.close()
  await proxy.stop()
  await server.stop()
})

/** Through the proxy, with connections of its own. */
const openThere = () => openDatabase({ url: url.replace(`:${server.port}/`, `:${proxy.port}/`), limits })

describe('faults: the line to the database', () => {
  it.each([
    ['5 s of latency', 'late'],
    ['half-open', 'half-open'],
    ['a byte a second', 'trickle'],
  ] as const)('86: %s: bounded, UNAVAILABLE, no double row, back when the line is good', async (_name, mode) => {
    const database = await openThere()
    const stores = createStores(database)
    await Promise.all(Array.from({ length: 12 }, () => stores.ping()))
    proxy.mode = mode
    const name = `line_${mode.replace('-', '_')}`
    const writes = await Promise.all(
      Array.from({ length: 15 }, () => timed(stores.tools.create(caller, newTool({ name })))),
    )
    expect(new Set(writes.map(({ code }) => code))).toEqual(new Set(['UNAVAILABLE']))
    proxy.mode = 'good'
    await waitUntil(async () => (await timed(stores.ping())).code === 'ok')
    const again = await timed(stores.tools.create(caller, newTool({ name })))
    expect(['ok', 'NAME_TAKEN']).toContain(again.code)
    const found = await createStores(direct).tools.list('default', { limit: 10, search: name })
    expect(found.items).toHaveLength(1)
    await database.close()
  })

  it('86: a reset in the middle of a commit: unknown to the caller, once in the database', async () => {
    let committed = 0
    // A commit that the server has received may still be under way.
    const working = () =>
      direct.db.execute(sql`select pid from pg_stat_activity where datname = current_database()
        and pid <> pg_backend_pid() and state in ('active', 'idle in transaction')`)
    for (let round = 0; round < 5; round++) {
      const database = await openThere()
      const stores = createStores(database)
      await stores.ping()
      proxy.resetAfter = (chunk) => chunk.includes('commit')
      const content = newTool({ name: `reset_${round}` })
      expect((await timed(stores.tools.create(caller, content))).code).toBe('UNAVAILABLE')
      proxy.resetAfter = undefined
      await expect.poll(working).toEqual([])
      const known = await stores.tools.get('default', content.name)
      if (known !== undefined) committed++
      const again = await timed(stores.tools.create(caller, content))
      expect(again.code).toBe(known === undefined ? 'ok' : 'NAME_TAKEN')
      const tool = await stores.tools.get('default', content.name)
      expect((await stores.tools.versions('default', tool?.id ?? '', { limit: 5 })).items).toHaveLength(1)
      await database.close()
    }
    // What the server had already heard is done.
    expect(committed).toBeGreaterThan(0)
  })

  it('a connection that only listens is not cut after a notice, because it expects no response', async () => {
    const database = await openDatabase({ url, limits })
    const heard: string[] = []
    const unlisten = await database.listen('lines_test', (payload) => heard.push(payload))
    const listening = () =>
      direct.db.execute(sql`select pid from pg_stat_activity
        where datname = current_database() and query = 'listen "lines_test"'`)
    const before = await listening()
    expect(before).toHaveLength(1)
    await direct.db.execute(sql`select pg_notify('lines_test', 'first')`)
    await expect.poll(() => heard).toEqual(['first'])
    // Longer than a response may take.
    await direct.slow.execute(sql`select pg_sleep(${limits.answerMs / 1000 + 1})`)
    await direct.db.execute(sql`select pg_notify('lines_test', 'second')`)
    await expect.poll(() => heard).toEqual(['first', 'second'])
    expect(await listening()).toEqual(before)
    await unlisten()
    await database.close()
  })

  it('83: requests while the only connection is cut: those at that moment fail, the next connection serves the others', async () => {
    const patient = { connectSeconds: 60, answerMs: 60_000, statementMs: 60_000, lockMs: 60_000 }
    const database = await openDatabase({ url, limits: { ...patient, connections: 1 } })
    const stores = createStores(database)
    for (let round = 0; round < 10; round++) {
      const [line] = (await database.db.execute(sql`select pg_backend_pid() as pid`)) as unknown as { pid: number }[]
      let toAsk = 50
      const cut = direct.db.execute(sql`select pg_terminate_backend(${line?.pid}, 60000)`).then(() => {
        toAsk = 50
      })
      const asked: ReturnType<typeof timed>[] = []
      for (; toAsk > 0; toAsk--) {
        asked.push(timed(stores.ping()))
        await new Promise((resolve) => setTimeout(resolve, 0))
      }
      await cut
      const ended = await Promise.all(asked)
      expect(ended.at(-1)?.code).toBe('ok')
    }
    await database.close()
  })
})
