import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readMigrations } from '../../src/storage/migrate.ts'
import { auditRuns, keepHistory, queryRuns, type Recorded } from '../support/audit-runs.ts'
import { register } from '../support/rest.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { startServer } from '../support/start-server.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { faultyMain } from './crash-loop.ts'

let postgres: SharedPostgres
beforeAll(async () => {
  postgres = await sharedPostgres()
}, 600_000)
afterAll(() => postgres.stop())

// All steps but the last of each would be a start each; every seventeenth hits all parts.
const stride = 17
const engines = ['embedded', 'PostgreSQL'] as const
const faults = (home: string, points: string) => ({
  TEST_KILL_FILE: join(home, 'kill-at'),
  TEST_POINTS_FILE: join(home, 'points'),
  TEST_POINTS: points,
})

describe.each(engines)('killed while it writes (%s)', (engine) => {
  const place = async () => {
    const home = tempFolder()
    const database = engine === 'PostgreSQL' ? await postgres.createDatabase({ empty: true }) : undefined
    return { home, database, where: (database === undefined ? { home } : { url: database }) satisfies Recorded }
  }

  it('73: kill -9 between two versions leaves versions without a gap, one of them the latest', async () => {
    const { home, database, where } = await place()
    await keepHistory(where)
    const env = faults(home, '^F8')
    const start = () =>
      startServer({
        limitedBecause: 'crashes are the subject, with hundreds of calls',
        home,
        database,
        env,
        entry: faultyMain,
      })
    let server = await start()
    await register(server, 'changing')
    let version = 1
    for (let step = 1; ; step++) {
      writeFileSync(env.TEST_KILL_FILE, String(step))
      const body = { notes: `step ${step}` }
      const answer = await server.request('PATCH', '/tools/changing', { body }).catch(() => undefined)
      rmSync(env.TEST_KILL_FILE)
      if (answer !== undefined) {
        expect([answer.status, answer.body.version]).toEqual([200, ++version])
        expect(step).toBe(3)
        break
      }
      await server.ended
      server = await start()
      expect((await server.request('GET', '/tools/changing')).body.version).toBe(version)
      const again = await server.request('PATCH', '/tools/changing', { body: { notes: `after ${step}` } })
      expect([again.status, again.body.version]).toEqual([200, ++version])
    }
    await server.stop()
    expect(await auditRuns(where)).toEqual([])
  }, 600_000)

  it('74: kill -9 at a step of the migration: the next start takes all steps, and they were taken once', async () => {
    const { home, database, where } = await place()
    const env = faults(home, '^F9')
    const migrate = (killAt: number) =>
      new Promise<{ code: number | null; steps: string }>((resolve) => {
        writeFileSync(env.TEST_KILL_FILE, String(killAt))
        const child = spawn(process.execPath, [faultyMain], {
          env: {
            ...process.env,
            ...env,
            TEST_ENTRY: './migrate-once.mjs',
            TOOLDEX_HOME: home,
            DATABASE_URL: database ?? '',
          },
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        let steps = ''
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          steps += text
        })
        child.once('close', (code) => resolve({ code, steps }))
      })
    let killAt = 1
    let last = await migrate(killAt)
    for (; last.code === null; last = await migrate(killAt)) killAt += stride
    expect([last.code, JSON.parse(last.steps)]).toEqual([0, readMigrations().map(({ name }) => name)])
    expect(killAt).toBeGreaterThan(50)
    const kept = await queryRuns(where, 'select name from tooldex_migrations')
    expect(kept).toHaveLength(readMigrations().length)
    expect((await migrate(0)).steps).toBe('[]')
  }, 600_000)
})

it('74: servers that start at once on an empty PostgreSQL: one migrates, all serve', async () => {
  const database = await postgres.createDatabase({ empty: true })
  const servers = await Promise.all(
    [1, 2, 3].map(() => startServer({ limitedBecause: 'crashes are the subject, with hundreds of calls', database })),
  )
  const applied = 'select count(*)::int as count, count(distinct applied_at)::int as moments from tooldex_migrations'
  const migrated = await queryRuns({ url: database }, applied)
  await register(servers[0] as (typeof servers)[number], 'shared')
  const seen = await Promise.all(servers.map((server) => server.request('GET', '/tools/shared')))
  await Promise.all(servers.map((server) => server.stop()))
  // One transaction took all steps.
  expect(migrated).toEqual([{ count: readMigrations().length, moments: 1 }])
  expect(seen.map(({ status }) => status)).toEqual([200, 200, 200])
}, 600_000)
