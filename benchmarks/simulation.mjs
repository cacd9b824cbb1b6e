// Simulates policies over many recorded calls, on both engines, beside what it costs other work of the process.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { composeProcess } from '../dist/app/compose.js'
import { createToolCheck } from '../dist/operations/checks/check-tool.js'
import { invoke } from '../dist/operations/invoke.js'
import { simulatePolicy } from '../dist/operations/simulation/simulate-policy.js'
import { createStores, migrate, openDatabase } from '../dist/storage/index.js'
import { median, ms, table } from './measure.mjs'
import { startPostgres } from './postgres.mjs'

const calls = Number(process.env.TOOLDEX_BENCH_CALLS ?? 100_000)
const rounds = 3
const names = Array.from({ length: 20 }, (_, index) => `bench_say_${index}`)
const config = `name: bench
command: echo
tools:
${names
  .map(
    (name) => `  - name: ${name}
    description: Print a word
    args:
      - {name: word, description: The word, positional: 1, required: true}
      - {name: count, description: How often, flag: --count, type: integer}
`,
  )
  .join('')}`

const approvals = rulesOf(2, 4, { requireApproval: true })
const bounds = { args: { word: { pattern: 'word-[0-9]+' }, count: { max: 75 } } }
const expected = { blocked: calls / 10, approval: calls / 10 }
const policies = {
  'two tools of twenty hidden, two sent to approval': {
    policy: { tools: { ...approvals, ...rulesOf(4, 20, {}) } },
    expected: { ...expected, bounded: 0, pass: calls * 0.8 },
  },
  'the same, and bounds on the arguments of the other sixteen': {
    policy: { tools: { ...approvals, ...rulesOf(4, 20, bounds) } },
    expected: { ...expected, bounded: calls * 0.2, pass: calls * 0.6 },
  },
}

function rulesOf(from, to, rule) {
  return Object.fromEntries(names.slice(from, to).map((name) => [name, rule]))
}

/** A call every twenty seconds: each caller calls each tool, and a quarter of the counts is out of bounds. */
const record = `insert into tool_executions (tool_name, caller_id, input_data, status, created_at)
  select 'bench_say_' || n % 20, 'key:caller-' || n % 7,
    json_build_object('word', 'word-' || n, 'count', n / 20 % 100 + 1), 'SUCCESS', now() - n * interval '20 seconds'
  from generate_series(0, ${calls - 1}) n`

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'tooldex-bench-simulation-'))
  process.env.TOOLDEX_HOME = folder
  const file = join(folder, 'bench.yaml')
  writeFileSync(file, config)
  const server = await startPostgres()
  try {
    const url = await server.createDatabase('simulation')
    const rows = [
      ...(await measure('PostgreSQL', { url }, file)),
      ...(await measure('embedded', { home: folder, inThread: true }, file)),
    ]
    const header = ['engine', 'policy', 'calls decided', 'time', 'per second', 'CPU', 'longest turn of the event loop']
    return `${about}\n\n${table(header, rows)}`
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const about = `${calls.toLocaleString('en')} recorded calls of 7 callers and 20 tools, each decided twice, under the simulated and the present policies; median of ${rounds} after a warm-up. The benchmark checks the number of each outcome. Where a policy bounds arguments, the recorded input is read and checked as in a real call. CPU is that of the process: with the embedded engine in its thread, without PostgreSQL.`

async function measure(engine, options, file) {
  const database = await openDatabase(options)
  const composed = composeProcess({ configs: [file], scope: 'service' })
  try {
    await migrate(database)
    await database.slow.execute(record)
    await database.slow.execute('analyze tool_executions')
    const context = { ...composed, registry: { stores: createStores(database), check: createToolCheck({}) } }
    await context.catalog.open()
    const rows = []
    for (const [title, { policy, expected }] of Object.entries(policies)) {
      await invoke(simulatePolicy, { policy, days: 1 }, context)
      const all = []
      for (let round = 0; round < rounds; round++) all.push(await simulate(context, policy, expected))
      const of = (field) => median(all.map((one) => one[field]))
      const seconds = of('time') / 1000
      const perSecond = Math.round(calls / seconds).toLocaleString('en')
      rows.push([
        engine,
        title,
        calls.toLocaleString('en'),
        `${seconds.toFixed(1)} s`,
        perSecond,
        `${(of('cpu') / 1000).toFixed(1)} s`,
        ms(Math.max(...all.map(({ delay }) => delay))),
      ])
    }
    return rows
  } finally {
    await composed.runner.close(0)
    await database.close()
  }
}

async function simulate(context, policy, expected) {
  const loop = monitorEventLoopDelay({ resolution: 1 })
  const cpu = process.cpuUsage()
  const started = performance.now()
  loop.enable()
  const { executions, outcomes } = await invoke(simulatePolicy, { policy, days: 30 }, context)
  loop.disable()
  const time = performance.now() - started
  const { user, system } = process.cpuUsage(cpu)
  const wrong = Object.entries(expected).find(([outcome, count]) => outcomes[outcome] !== count)
  if (executions !== calls || wrong !== undefined) throw new Error(`${executions} calls: ${JSON.stringify(outcomes)}`)
  return { time, cpu: (user + system) / 1000, delay: loop.max / 1e6 }
}
