// What one PostgreSQL carries with 2 servers and 4 workers: calls that are waited for, calls that are queued, and what each costs it.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import postgres from 'postgres'
import { eventually, ms, table } from './measure.mjs'
import { startPostgres } from './postgres.mjs'

const main = fileURLToPath(new URL('../dist/app/main.js', import.meta.url))
const key = 'bench-key-0123456789abcdef'
const seconds = Number(process.env.TOOLDEX_BENCH_SECONDS ?? 10)
const config = `name: bench
command: 'true'
tools:
  - {name: bench_true, description: Do nothing}
`

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'tooldex-bench-scaling-'))
  const server = await startPostgres()
  const children = []
  try {
    const url = await server.createDatabase('scaling')
    const file = join(folder, 'tools.yaml')
    writeFileSync(file, config)
    const start = (name, words) => launch({ url, home: join(folder, name), words, children })
    const servers = ['s1', 's2'].map((name) => start(name, ['serve', file, '--port', '0', '--no-worker']))
    const urls = await Promise.all(servers.map((home) => eventually(() => readUrl(home))))
    for (const name of ['w1', 'w2', 'w3', 'w4']) start(name, ['worker', '--concurrency', '4'])
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    const reads = await measure(sql, urls, { path: '/api/v1/executions?limit=20', method: 'GET' })
    const waited = await measure(sql, urls, { path: '/api/v1/tools/bench_true/execute', body: { wait: true } })
    const queued = await measure(sql, urls, { path: '/api/v1/tools/bench_true/execute', body: {} }, drained)
    const [{ bytes }] =
      await sql`select pg_total_relation_size('tool_executions')::float8 / count(*) as bytes from tool_executions`
    await sql.end()
    return tell({ reads, waited, queued }, bytes)
  } finally {
    await Promise.all(children.map(end))
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Some may have ended by themselves. */
function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return undefined
  child.kill('SIGTERM')
  return new Promise((resolve) => child.once('close', resolve))
}

const readUrl = (home) => JSON.parse(readFileSync(join(home, 'server.json'), 'utf8')).url

function launch({ url, home, words, children }) {
  mkdirSync(home)
  const env = {
    ...process.env,
    DATABASE_URL: url,
    TOOLDEX_HOME: home,
    TOOLDEX_API_KEY: key,
    TOOLDEX_QUEUE_LIMIT: '100000',
  }
  children.push(spawn(process.execPath, [main, ...words], { env, stdio: 'ignore' }))
  return home
}

/** The same requests to both servers at once; what came of them, by the database's own count. */
async function measure(sql, urls, { path, method = 'POST', body }, settle = async () => {}) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const before = await readCosts(sql)
  const started = performance.now()
  const results = await Promise.all(
    urls.map((url) =>
      autocannon({
        url: url + path,
        method,
        headers,
        connections: 8,
        duration: seconds,
        ...(body && { body: JSON.stringify(body) }),
      }),
    ),
  )
  await settle(sql)
  const took = (performance.now() - started) / 1000
  const after = await readCosts(sql)
  const answered = results.reduce((sum, { requests }) => sum + requests.total, 0)
  const failed = results.reduce((sum, { non2xx, errors }) => sum + non2xx + errors, 0)
  const runs = after.runs - before.runs
  const each = runs || answered
  return {
    answered,
    failed,
    runs,
    took,
    p99: Math.max(...results.map(({ latency }) => latency.p99)),
    commits: (after.commits - before.commits) / each,
    wal: (after.wal - before.wal) / each,
  }
}

async function readCosts(sql) {
  await sql`select pg_stat_force_next_flush()`
  const [row] = await sql`select pg_current_wal_lsn() - '0/0'::pg_lsn as wal,
    (select xact_commit from pg_stat_database where datname = current_database())::float8 as commits,
    (select count(*) from tool_executions where completed_at is not null)::float8 as runs`
  return { wal: Number(row.wal), commits: Number(row.commits), runs: Number(row.runs) }
}

const drained = (sql) =>
  eventually(async () => {
    const open = await sql`select 1 from tool_executions where status in ('PENDING', 'RUNNING') limit 1`
    if (open.length > 0) throw new Error('not yet')
  }, 120_000)

function tell(measured, bytes) {
  const names = {
    reads: 'lists of 20 executions',
    waited: 'calls of `true`, waited for (run by the workers)',
    queued: 'calls of `true`, queued (run by the workers)',
  }
  const rows = Object.entries(measured).map(([which, { answered, failed, runs, took, p99, commits, wal }]) => [
    names[which],
    `${Math.round((runs || answered) / took)}/s`,
    ms(p99),
    String(failed),
    commits.toFixed(1),
    which === 'reads' ? '' : `${(wal / 1024).toFixed(1)} KiB`,
  ])
  const header = [
    '16 connections to 2 servers, 4 workers',
    'done',
    'p99 of an answer',
    'failed',
    'transactions each',
    'WAL each',
  ]
  return `${table(header, rows)}\n\nOne execution takes ${(bytes / 1024).toFixed(1)} KiB of table and indexes. All processes, PostgreSQL and the load generator shared the two cores.`
}
