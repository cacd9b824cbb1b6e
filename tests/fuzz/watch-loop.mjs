// Loaded into a server before its own code (node --import): notes each turn of the main thread's event loop that computes for
// long. The CPU time of that thread is measured at both ends of a turn, so that a loaded machine does not look like a blocked loop.
import { appendFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { join } from 'node:path'
import { WASI } from 'node:wasi'
import { isMainThread } from 'node:worker_threads'

const folder = process.env.TOOLDEX_LOOP_FOLDER
const notedMs = 20
const profiledMs = 35
const profileForMs = 20_000

if (isMainThread && folder !== undefined && process.argv.includes('serve')) watch(join(folder, `${process.pid}.jsonl`))

function watch(file) {
  const cpuMs = threadClock()
  const profile = process.env.TOOLDEX_LOOP_STACK === undefined ? undefined : openProfile()
  let [cpu, wall] = [cpuMs(), performance.now()]
  setInterval(() => {
    const took = { cpuMs: cpuMs() - cpu, wallMs: performance.now() - wall }
    const stack = profile?.(took)
    if (took.cpuMs > notedMs) appendFileSync(file, `${JSON.stringify({ at: Date.now(), ...took, stack })}\n`)
    ;[cpu, wall] = [cpuMs(), performance.now()]
  }, 2).unref()
}

/** The CPU time of the current thread, which Node 20 offers to WebAssembly modules only. */
function threadClock() {
  const memory = new WebAssembly.Memory({ initial: 1 })
  const wasi = new WASI({ version: 'preview1' })
  wasi.initialize({ exports: { memory } })
  const view = new DataView(memory.buffer)
  const threadCpuTime = 3
  return () => {
    if (wasi.wasiImport.clock_time_get(threadCpuTime, 0n, 0) !== 0) throw new Error('no CPU time of threads')
    return Number(view.getBigUint64(0, true)) / 1e6
  }
}

/** Samples the main thread; returns the most frequent stacks of a long turn. */
function openProfile() {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: 1000 })
  session.post('Profiler.start')
  let since = performance.now()
  return ({ cpuMs, wallMs }) => {
    if (cpuMs < profiledMs && performance.now() - since < profileForMs) return undefined
    let stack
    session.post('Profiler.stop', (_, { profile }) => {
      if (cpuMs >= profiledMs) stack = frequentStacks(profile, profile.endTime - wallMs * 1000)
    })
    session.post('Profiler.start')
    since = performance.now()
    return stack
  }
}

function frequentStacks({ nodes, samples, timeDeltas, startTime }, from) {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const stackOf = (id) => {
    const frames = []
    for (let at = id; at !== undefined && frames.length < 12; at = parents.get(at)) {
      const { functionName, url, lineNumber } = byId.get(at).callFrame
      frames.push(`${functionName}@${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`)
    }
    return frames.join(' < ')
  }
  const counts = new Map()
  let time = startTime
  for (const [index, sample] of samples.entries()) {
    time += timeDeltas[index]
    if (time >= from) counts.set(sample, (counts.get(sample) ?? 0) + 1)
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, 8)
  return most.map(([id, count]) => `${count}: ${stackOf(id)}`).join('\n  ')
}
