// What the benchmarks of executors share: a tool, a runner around an executor, and ways measured in turn.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Semaphore } from '../dist/base/semaphore.js'
import { checkBoundValues } from '../dist/policy/index.js'
import { createRunner } from '../dist/runs/create-runner.js'
import { createRedactor } from '../dist/secrets/index.js'
import { median, ms, percentile, table } from './measure.mjs'

/** A registered tool, as runs see it. */
export const toolOf = (executorType, executorConfig, inputSchema = { type: 'object' }) => ({
  name: 'measured',
  id: null,
  version: 1,
  executorType,
  executorConfig,
  scriptContent: null,
  inputSchema,
  outputSchema: {},
  annotations: {},
  constraints: [],
})

/** The path of every call: arguments checked, policy asked, secrets taken out. */
const redact = createRedactor({}, process.env)
export const runnerOf = (executor) =>
  createRunner({
    executors: { [executor.kind]: executor },
    slots: new Semaphore({ slots: 16, waiting: 256 }),
    checkBoundValues,
    redactorFor: () => redact,
    openSecrets: () => ({ resolve: async (name) => name, redact: (text) => text }),
  })

/** Starts a script of this folder that prints the port it listens on. */
export async function startPeer(...words) {
  const [script, ...rest] = words
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = spawn(process.execPath, [path, ...rest], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout, 'data')
  return { port: Number(port), stop: () => child.stdin.end() }
}

/** Measures ways of doing the same thing in turn; the first is the floor. */
export async function measureInTurn(ways, { rounds, warmUp = 300 }) {
  const names = Object.keys(ways)
  const times = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds + warmUp; round++) {
    for (const name of names) {
      const started = performance.now()
      await ways[name]()
      if (round >= warmUp) times[name].push(performance.now() - started)
    }
  }
  const floor = median(times[names[0]])
  return names.map((name) => {
    const all = times[name]
    return [name, ms(median(all)), ms(percentile(all, 0.95)), (median(all) / floor).toFixed(2)]
  })
}

export const inTable = (rows) => table(['way', 'p50', 'p95', 'times the floor'], rows)
