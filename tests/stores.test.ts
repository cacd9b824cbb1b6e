import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll } from 'vitest'
import { describeLimits } from '../src/storage/access/limits.suite.ts'
import { describeExecutions } from '../src/storage/executions/executions.suite.ts'
import { createStores } from '../src/storage/index.ts'
import { describeStores } from '../src/storage/stores.suite.ts'
import { describeOffered } from '../src/storage/tools/offered.suite.ts'
import { openMigrated } from './support/migrated-database.ts'
import { type SharedPostgres, sharedPostgres } from './support/start-postgres.ts'

let server: SharedPostgres | undefined
afterAll(() => server?.stop())

// Threads can be started only from built modules.
const built = (await import(
  new URL('../dist/storage/index.js', import.meta.url).href
)) as typeof import('../src/storage/index.ts')

/** The embedded engine runs in a thread, as it does in a server. */
async function open(where: { url?: string; home?: string }) {
  const database = await openMigrated(where, (place) => built.openDatabase({ ...place, inThread: true }))
  const execute = (statement: string) => Promise.resolve(database.db.execute(sql.raw(statement)))
  return { stores: createStores(database), database, execute, close: () => database.close() }
}

async function openEmbedded() {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-store-'))
  const { close, ...opened } = await open({ home })
  return { ...opened, close: () => close().finally(() => rmSync(home, { recursive: true, force: true })) }
}

async function openServer() {
  server ??= await sharedPostgres()
  return open({ url: await server.createDatabase() })
}

describeStores('embedded', openEmbedded)
describeStores('PostgreSQL', openServer)
describeExecutions('embedded', openEmbedded)
describeExecutions('PostgreSQL', openServer)
/** Two replicas share a database on PostgreSQL; on the embedded engine they are two stores of one connection. */
describeLimits('embedded', async () => {
  const { database, ...opened } = await openEmbedded()
  return { ...opened, replica: createStores(database) }
})
describeLimits('PostgreSQL', async () => {
  server ??= await sharedPostgres()
  const url = await server.createDatabase()
  const [one, other] = [await open({ url }), await open({ url })]
  return { ...one, replica: other.stores, close: async () => void (await Promise.all([one.close(), other.close()])) }
})
describeOffered('embedded', openEmbedded, { several: false })
describeOffered('PostgreSQL', openServer, { several: true })
