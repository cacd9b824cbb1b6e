// A call of a Python tool beside bare bubblewrap and python3 with the same script: one at a time, and a hundred at once.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPythonExecutor, Environments, Sandbox } from '../dist/executors/index.js'
import { bubblewrapArguments } from '../dist/executors/sandbox/bubblewrap-arguments.js'
import { defaultSandboxLimits } from '../dist/executors/sandbox/sandbox-limits.js'
import { median, ms, percentile, table } from './measure.mjs'
import { openRecorded } from './open-runs.mjs'
import { startPostgres } from './postgres.mjs'
import { whenQuiet } from './quiet.mjs'

const rounds = Number(process.env.TOOLDEX_BENCH_ROUNDS ?? 40)
const patienceMs = 500
const script = 'def main(given):\n    return {"sum": sum(given["numbers"])}\n'
const input = { numbers: [1, 2, 3, 36] }
// What one would write without Tooldex: read the arguments, call main, print what it returns.
const bareScript = `${script}\nimport json, sys\nprint(json.dumps(main(json.load(sys.stdin))))\n`

const tool = {
  name: 'bench_sum',
  id: null,
  version: null,
  executorType: 'python',
  executorConfig: {},
  scriptContent: script,
  inputSchema: null,
  outputSchema: {},
  annotations: {},
  constraints: [],
}

export async function run() {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-bench-python-'))
  process.env.TOOLDEX_HOME = home
  const server = await startPostgres()
  const sandbox = new Sandbox({ env: process.env })
  const executorWith = (warm) =>
    createPythonExecutor({ sandbox, env: process.env, environments: new Environments(home), warm })
  const [cold, warm] = [executorWith(0), executorWith(4)]
  try {
    const url = await server.createDatabase('python')
    const recorded = await openRecorded({ url, home, slots: 100, executors: { python: warm } })
    const ways = {
      [bare]: bareRun,
      'tooldex, a sandbox made for the call': () => direct(cold),
      'tooldex, confined by Landlock': () => direct(cold, { isolation: 'confined' }),
      'tooldex, a sandbox that waited for it': () => direct(warm),
      'the same, recorded on PostgreSQL': () => record(recorded),
    }
    const alone = await inTurn(ways)
    const together = await atOnce(ways)
    await recorded.close()
    return [alone, together].join('\n\n')
  } finally {
    await Promise.all([cold.close(), warm.close()])
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

const bare = 'bare bubblewrap and python3'
const shape = { limits: defaultSandboxLimits, network: false, mounts: [], env: {}, cwd: '/work' }
const words = bubblewrapArguments(shape)
const caller = { workspace: 'default', actor: 'owner' }

/** The same namespaces and mounts, and nothing else: no filter, no limits, no check of what comes out. */
function bareRun() {
  return new Promise((resolve, reject) => {
    const child = spawn('bwrap', [...words, '/usr/bin/python3', '-I', '-S', '-B', '-c', bareScript], {
      env: { PATH: process.env.PATH },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part) => {
      text += part
    })
    child.once('error', reject)
    child.once('close', () => resolve(JSON.parse(text)))
    child.stdin.end(JSON.stringify(input))
  })
}

const direct = async (executor, executorConfig = {}) =>
  (await executor.prepare({ tool: { ...tool, executorConfig }, input }).run({})).output
const record = async ({ runs }) => (await runs.execute(caller, tool, input, { wait: true })).outputData

async function timed(work) {
  const started = performance.now()
  const output = await work()
  if (output?.sum !== 42) throw new Error(`the script gave ${JSON.stringify(output)}`)
  return performance.now() - started
}

async function inTurn(ways) {
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
  for (let round = 0; round < rounds + 3; round++) {
    for (const [name, work] of Object.entries(ways)) {
      await whenQuiet(patienceMs)
      const took = await timed(work)
      if (round >= 3) times[name].push(took)
    }
  }
  const floor = median(times[bare])
  const rows = Object.entries(times).map(([name, all]) => [
    name,
    ms(median(all)),
    ms(percentile(all, 0.95)),
    (median(all) / floor).toFixed(2),
  ])
  return `One at a time, ${rounds} of each, in turn. Goal: at most 1.2 times.\n\n${table(['', 'p50', 'p95', 'times the bare'], rows)}`
}

/** A hundred calls that all begin now. */
async function atOnce(ways) {
  const rows = []
  for (const [name, work] of Object.entries(ways)) {
    await whenQuiet(patienceMs)
    const started = performance.now()
    const all = await Promise.all(Array.from({ length: 100 }, () => timed(work)))
    rows.push([name, ms(performance.now() - started), ms(median(all)), ms(percentile(all, 0.99))])
  }
  return `A hundred at once, none waiting for a slot.\n\n${table(['', 'all done after', 'p50', 'p99'], rows)}`
}
