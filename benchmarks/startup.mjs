// From the start of the process to the first answer of tools/list, beside a ten-line server on the same SDK.
import { fileURLToPath } from 'node:url'
import { median, ms, percentile, RawPeer, table } from './measure.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const rounds = 25
const servers = {
  'ten-line server': [here('floor-server.mjs')],
  'tooldex run git coreutils': [here('../dist/app/main.js'), 'run', '--no-registry', 'git', 'coreutils'],
  'tooldex run (all bundled configs)': [
    here('../dist/app/main.js'),
    'run',
    '--no-registry',
    'git',
    'docker',
    'kubectl',
    'gh',
    'npm',
    'jq',
    'ripgrep',
    'curl',
    'systemctl',
    'coreutils',
    'find',
    'tar',
  ],
}

async function start(args) {
  const started = performance.now()
  const peer = new RawPeer(args)
  await peer.open()
  await peer.request('tools/list')
  const time = performance.now() - started
  await peer.close()
  return time
}

export async function run() {
  const times = Object.fromEntries(Object.keys(servers).map((name) => [name, []]))
  // One after another in turn, so that a slow moment of the machine is everyone's.
  for (let round = 0; round < rounds; round++) {
    for (const [name, args] of Object.entries(servers)) times[name].push(await start(args))
  }
  const floor = median(times['ten-line server'])
  const rows = Object.entries(times).map(([name, all]) => [
    name,
    ms(median(all)),
    ms(percentile(all, 0.95)),
    (median(all) / floor).toFixed(2),
  ])
  return `Goal: at most 1.5 times the floor. Median of ${rounds} starts each.\n\n${table(['server', 'p50', 'p95', 'times the floor'], rows)}`
}
