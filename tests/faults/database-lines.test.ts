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
const limits = { connectSeconds: 3, answerMs: 3000, statementMs: 2000, lockMs: 1000 }
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
  ] as const)(
    '86: %s: bounded, UNAVAILABLE, no double row, back when the line is good',
    async (_name, mode) => {
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
      const took = await waitUntil(async () => (await timed(stores.ping())).code === 'ok', 10_000)
      const again = await timed(stores.tools.create(caller, newTool({ name })))
      expect(['ok', 'NAME_TAKEN']).toContain(again.code)
      const found = await createStores(direct).tools.list('default', { limit: 10, search: name })
      expect(found.items).toHaveLength(1)
      console.info(
        `86 ${mode}: at most ${Math.round(Math.max(...writes.map(({ ms }) => ms)))} ms, back after ${Math.round(took)} ms`,
      )
      await database.close()
    },
    90_000,
  )

  it('86: a reset in the middle of a commit: unknown to the caller, once in the database', async () => {
    let committed = 0
    for (let round = 0; round < 5; round++) {
      const database = await openThere()
      const stores = createStores(database)
      await stores.ping()
      proxy.resetAfter = (chunk) => chunk.includes('commit')
      const content = newTool({ name: `reset_${round}` })
      expect((await timed(stores.tools.create(caller, content))).code).toBe('UNAVAILABLE')
      proxy.resetAfter = undefined
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

  it('83: asked at every moment while its only line is cut: a request at that moment gets an error, the next connection serves at once', async () => {
    const database = await openDatabase({ url, limits: { ...limits, connections: 1 } })
    const stores = createStores(database)
    for (let round = 0; round < 10; round++) {
      const [line] = (await database.db.execute(sql`select pg_backend_pid() as pid`)) as unknown as { pid: number }[]
      let toAsk = 50
      const cut = direct.db.execute(sql`select pg_terminate_backend(${line?.pid})`).then(() => {
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
