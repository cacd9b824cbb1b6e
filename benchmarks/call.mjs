// One call of `echo` over stdio, beside a ten-line server that starts the same program.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, ms, percentile, RawPeer, table } from './measure.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const rounds = 400
const config = join(mkdtempSync(join(tmpdir(), 'tooldex-bench-')), 'echo.yaml')
writeFileSync(
  config,
  `name: bench
command: echo
tools:
  - name: bench_echo
    description: Print a message
    args: [{name: message, required: true, positional: true}]
`,
)

const viaCallTool = { name: 'call_tool', arguments: { name: 'bench_echo', arguments: { message: 'hello' } } }
const main = here('../dist/app/main.js')
const peers = {
  'ten-line server': { args: [here('floor-server.mjs')], call: { name: 'echo', arguments: { message: 'hello' } } },
  'tooldex, process group': {
    args: [main, 'run', '--no-registry', '--containment', 'process-group', config],
    call: viaCallTool,
  },
  'tooldex, PID namespace': {
    args: [main, 'run', '--no-registry', '--containment', 'pid-namespace', config],
    call: viaCallTool,
  },
}

export async function run() {
  const open = {}
  for (const [name, { args }] of Object.entries(peers)) {
    open[name] = new RawPeer(args)
    await open[name].open()
  }
  const times = Object.fromEntries(Object.keys(peers).map((name) => [name, []]))
  for (let round = 0; round < rounds + 30; round++) {
    for (const [name, { call }] of Object.entries(peers)) {
      const started = performance.now()
      const { result } = await open[name].request('tools/call', call)
      if (result?.content?.[0]?.text.trim() !== 'hello') throw new Error(`${name} answered ${JSON.stringify(result)}`)
      if (round >= 30) times[name].push(performance.now() - started)
    }
  }
  for (const peer of Object.values(open)) await peer.close()
  const floor = median(times['ten-line server'])
  const rows = Object.entries(times).map(([name, all]) => [
    name,
    ms(median(all)),
    ms(percentile(all, 0.95)),
    (median(all) / floor).toFixed(2),
  ])
  return `Goal: at most 1.25 times the floor, median. ${rounds} calls each, in turn. A PID namespace is what root gets by default.\n\n${table(['server', 'p50', 'p95', 'times the floor'], rows)}`
}
