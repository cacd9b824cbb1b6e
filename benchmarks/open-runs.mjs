// Recorded runs in this very process, on a database of one's own: what a server does without the HTTP in front of it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { composeProcess } from '../dist/app/compose.js'
import { createRunner } from '../dist/runs/create-runner.js'
import { openRuns } from '../dist/runs/open-runs.js'
import { createStores, migrate, openDatabase } from '../dist/storage/index.js'

/** The config that every part of the benchmark runs: `echo hello`, and `true`. */
export const config = `name: bench
command: echo
tools:
  - {name: bench_echo, description: Print a word, command: hello}
`
export const trueConfig = `name: bench_true
command: 'true'
tools:
  - {name: bench_true, description: Do nothing}
`

/** Opens the database and records runs in it; `noop` puts an executor in place that does nothing at all. */
export async function openRecorded({ url, home, slots = 16, takeWork = false, noop = false, executors = {} }) {
  const [echo, nothing] = ['echo.yaml', 'true.yaml'].map((name) => join(home, name))
  writeFileSync(echo, config)
  writeFileSync(nothing, trueConfig)
  const database = await openDatabase({ url, home })
  await migrate(database)
  const context = composeProcess({ configs: [echo, nothing], scope: 'service', concurrency: slots }, { executors })
  const runner = noop ? noopRunner(context.runner.slots) : context.runner
  const { executions } = createStores(database)
  const runs = await openRuns({ runner, store: executions, logger: context.logger, labels: [], takeWork })
  const tools = await context.catalog.open()
  return {
    runs,
    store: executions,
    tool: (name) => tools.find(name).runnable,
    async close() {
      await runs.close(0)
      await context.runner.close(0)
      await database.close()
    },
  }
}

const result = { stdout: 'hello\n', stderr: '', exitCode: 0, signal: null, durationMs: 0, truncated: false }
const outcome = { status: 'SUCCESS', result, isolation: 'none', errorCode: null, errorMessage: null }

/** Everything around a run, and no run: so that the queue is what is measured. */
function noopRunner(slots) {
  const executor = {
    kind: 'cli',
    readiness: () => ({ state: 'ready' }),
    prepare: () => ({
      bound: [],
      deadlineMs: 30_000,
      plan: async () => ({ kind: 'cli', isolation: 'none', timeoutMs: 30_000 }),
      run: async () => outcome,
    }),
  }
  return createRunner({
    executors: { cli: executor },
    slots,
    checkBoundValues: () => {},
    redactorFor: () => (text) => text,
  })
}
