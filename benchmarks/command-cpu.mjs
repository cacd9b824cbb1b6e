// CPU time (user and system) of whole commands, beside a bare start of Node.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, ms, percentile, table } from './measure.mjs'

const tools = fileURLToPath(new URL('../examples/registry/', import.meta.url))
const main = fileURLToPath(new URL('../dist/app/main.js', import.meta.url))
const rounds = 15
// Written by the process itself when it ends: the last line on stderr.
const report = `import { writeSync } from 'node:fs'
process.on('exit', () => { const { user, system } = process.cpuUsage(); writeSync(2, '\\n' + (user + system) / 1000) })`
const commands = {
  'node -e 0': ['-e', '0'],
  'tooldex --help': [main, '--help'],
  'tooldex tools list': [main, 'tools', 'list'],
}

function cpuOf(args, home) {
  const hook = `data:text/javascript,${encodeURIComponent(report)}`
  const env = { ...process.env, TOOLDEX_HOME: home, DATABASE_URL: '', TOOLDEX_URL: '' }
  const { status, stderr } = spawnSync(process.execPath, ['--import', hook, ...args], { encoding: 'utf8', env })
  if (status !== 0) throw new Error(stderr)
  return Number(stderr.slice(stderr.lastIndexOf('\n')))
}

export function run() {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-bench-'))
  try {
    // The first one makes the embedded database.
    const first = cpuOf(commands['tooldex tools list'], home)
    cpuOf([main, 'apply', tools], home)
    const times = Object.fromEntries(Object.keys(commands).map((name) => [name, []]))
    for (let round = 0; round < rounds; round++)
      for (const [name, args] of Object.entries(commands)) times[name].push(cpuOf(args, home))
    const rows = Object.entries(times).map(([name, all]) => [
      name,
      ms(Math.min(...all)),
      ms(median(all)),
      ms(percentile(all, 0.95)),
    ])
    rows.push(['tooldex tools list, in a new home', ms(first), '', ''])
    return `Goal: at most 250 ms for \`--help\` and 1.5 s for \`tools list\` on the embedded database, which has the example tools. ${rounds} runs each, in turn.\n\n${table(['command', 'CPU minimum', 'CPU p50', 'CPU p95'], rows)}`
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
