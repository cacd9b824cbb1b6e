// Recorded calls beside bare spawns of the same program, and the queue beside plain pg-boss on the same PostgreSQL.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import PgBoss from 'pg-boss'
import { eventually, ms, percentile, table } from './measure.mjs'
import { openRecorded } from './open-runs.mjs'
import { startPostgres } from './postgres.mjs'

const main = fileURLToPath(new URL('../dist/app/main.js', import.meta.url))
const key = 'bench-key-0123456789abcdef'
const caller = { workspace: 'default', actor: 'owner' }
const rounds = Number(process.env.TOOLDEX_BENCH_ROUNDS ?? 400)
const jobs = Number(process.env.TOOLDEX_BENCH_JOBS ?? 3000)
const concurrency = 16

export async function run() {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-bench-runs-'))
  process.env.TOOLDEX_HOME = home
  const server = await startPostgres()
  try {
    const calls = await measureCalls(server, home)
    const queue = await measureQueue(server, home)
    return [calls, queue, staleness].join('\n\n')
  } finally {
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

const staleness =
  'How soon another replica shows a change is measured by `tests/replicas.test.ts`, which prints it and fails above one second.'

/** The program, started by nothing but Node, and what it prints. */
function bareSpawn() {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/echo', ['hello'], { stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text
    })
    child.once('error', reject)
    child.once('close', () => resolve(stdout + stderr))
  })
}

async function measureCalls(server, home) {
  const url = await server.createDatabase('calls')
  const pg = await openRecorded({ url, home })
  const rest = await startRest(url, join(home, 'rest'), home)
  const served = await inTurn({
    [bare]: bareSpawn,
    'recorded, in process, PostgreSQL': library(pg),
    'recorded, over REST, PostgreSQL': async () => (await rest.call()).outputData,
  })
  await rest.close()
  await pg.close()
  // The embedded database lives in the process and makes every spawn of it dearer, so it is measured by itself.
  const embedded = await openRecorded({ home })
  const alone = await inTurn({
    [`${bare}, beside the embedded database`]: bareSpawn,
    'recorded, in process, embedded database': library(embedded),
  })
  await embedded.close()
  const goal = 'Goal on PostgreSQL: p50 at most +5 ms, p99 at most +25 ms.'
  const header = ['', 'p50', 'more than the bare spawn', 'p99', 'more than the bare spawn']
  const about = `A recorded call of \`echo hello\`, ${rounds} of each, in turn, one at a time.`
  return `${about} ${goal}\n\n${table(header, [...tellCalls(served), ...tellCalls(alone)])}`
}

const bare = 'bare spawn of `echo`'
const library = (recorded) => async () =>
  (await recorded.runs.execute(caller, recorded.tool('bench_echo'), {}, { wait: true })).outputData

/** One of each kind after the other, so that whatever else the machine does falls on all of them alike. */
async function inTurn(ways) {
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
  for (let round = 0; round < rounds + 30; round++) {
    for (const [name, call] of Object.entries(ways)) {
      const started = performance.now()
      const printed = await call()
      const took = performance.now() - started
      if (printed !== 'hello\n') throw new Error(`${name}: ${printed}`)
      if (round >= 30) times[name].push(took)
    }
  }
  return times
}

function tellCalls(times) {
  const [[, floor]] = Object.entries(times)
  return Object.entries(times).map(([name, all], index) => {
    const more = (share) => {
      const difference = percentile(all, share) - percentile(floor, share)
      return index === 0 ? '' : `${difference < 0 ? '-' : '+'}${ms(Math.abs(difference))}`
    }
    return [name, ms(percentile(all, 0.5)), more(0.5), ms(percentile(all, 0.99)), more(0.99)]
  })
}

async function startRest(url, home, folder) {
  const env = { ...process.env, DATABASE_URL: url, TOOLDEX_HOME: home, TOOLDEX_API_KEY: key }
  const child = spawn(process.execPath, [main, 'serve', join(folder, 'echo.yaml'), '--port', '0'], {
    env,
    stdio: 'ignore',
  })
  const where = await eventually(() => JSON.parse(readFileSync(join(home, 'server.json'), 'utf8')).url)
  const agent = new Agent({ keepAlive: true })
  const body = JSON.stringify({ wait: true })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length }
  const call = () =>
    new Promise((resolve, reject) => {
      const sent = request(`${where}/api/v1/tools/bench_echo/execute`, { method: 'POST', agent, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (part) => {
          text += part
        })
        answer.once('end', () => resolve(JSON.parse(text)))
      })
      sent.once('error', reject)
      sent.end(body)
    })
  const close = async () => {
    agent.destroy()
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('close', resolve))
  }
  return { call, close }
}

async function measureQueue(server, home) {
  const best = {}
  const note = (name, perSecond) => {
    best[name] = Math.max(best[name] ?? 0, perSecond)
  }
  const works = { 'nothing done': async () => {}, '`true` spawned': spawnTrue }
  for (let round = 1; round <= 2; round++) {
    for (const [what, work] of Object.entries(works)) {
      const database = (kind) => server.createDatabase(`${kind}_${what.replace(/\W/g, '')}_${round}`)
      note(`single ${what}`, await pgBoss(await database('single'), 1, work))
      note(`batch ${what}`, await pgBoss(await database('batch'), concurrency, work))
      const [noop, tool] = what === 'nothing done' ? [true, 'bench_echo'] : [false, 'bench_true']
      note(`ours ${what}`, await ours(await database('ours'), home, { noop, tool }))
    }
  }
  const rows = Object.keys(works).map((what) => {
    const [single, batch, mine] = ['single', 'batch', 'ours'].map((kind) => best[`${kind} ${what}`])
    const share = (mine / Math.max(single, batch)).toFixed(2)
    return [what, ...[single, batch, mine].map((each) => `${Math.round(each)}/s`), `${share} (at least 0.5)`]
  })
  const how = `${jobs} sent by ${concurrency} at a time, taken, run and ended by ${concurrency} at a time in the same process, the better of two rounds, in turn`
  const header = [
    '',
    `pg-boss, ${concurrency} workers`,
    `pg-boss, batches of ${concurrency}`,
    'Tooldex',
    'share of the better',
  ]
  return `Queued runs per second: ${how}. pg-boss 10 is told to look again at once after each job, which it does not do by itself; ours are rows with input, output, caller, lease and history.\n\n${table(header, rows)}`
}

const spawnTrue = () =>
  new Promise((resolve, reject) =>
    spawn('true', { stdio: ['ignore', 'pipe', 'pipe'] })
      .once('close', resolve)
      .once('error', reject),
  )

/** Sends with so many at a time; resolves when all are sent. */
async function send(one) {
  let sent = 0
  const sender = async () => {
    while (sent < jobs) {
      sent++
      await one()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, sender))
}

/** Jobs per second from the first send until the last is done: so many workers with one job at a time, or one worker with so many. */
async function pgBoss(url, batchSize, work) {
  const boss = new PgBoss({ connectionString: url, max: 12, supervise: false, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue('bench')
  let done = 0
  const workers = Array.from({ length: concurrency / batchSize }, async () => {
    const id = await boss.work('bench', { batchSize, pollingIntervalSeconds: 0.5 }, async (batch) => {
      await Promise.all(batch.map(() => work()))
      done += batch.length
      // It waits for the next poll otherwise; this asks again at once.
      boss.notifyWorker(id)
    })
  })
  await Promise.all(workers)
  const started = performance.now()
  await send(() => boss.send('bench', { word: 'hello' }))
  await eventually(() => done >= jobs || fail(), 120_000)
  const perSecond = (jobs * 1000) / (performance.now() - started)
  await boss.stop({ graceful: false, wait: true })
  return perSecond
}

async function ours(url, home, { noop, tool }) {
  const recorded = await openRecorded({ url, home, slots: concurrency, takeWork: true, noop })
  Object.assign(recorded.runs.settings.waiting, { perTool: 10_000, perCaller: 10_000 })
  const started = performance.now()
  await send(() => recorded.runs.execute(caller, recorded.tool(tool), {}, { wait: false }))
  await eventually(async () => {
    const { queued, running } = await recorded.store.queue('default')
    return queued + running === 0 || fail()
  }, 120_000)
  const perSecond = (jobs * 1000) / (performance.now() - started)
  await recorded.close()
  return perSecond
}

const fail = () => {
  throw new Error('not yet')
}
