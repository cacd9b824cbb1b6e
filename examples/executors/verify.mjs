import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'tooldex-example-'))
const { DATABASE_URL: _database, TOOLDEX_URL: _server, ...outer } = process.env
const env = { ...outer, TOOLDEX_HOME: home }
const tooldex = (...words) => {
  const options = { env, encoding: 'utf8' }
  const { stdout, stderr } = spawnSync(process.execPath, [at('../../dist/app/main.js'), ...words], options)
  return stdout === '' ? stderr : stdout
}
const call = (name, given, ...words) =>
  JSON.parse(tooldex('call', '--json', '--args', JSON.stringify(given), ...words, name))
/** Calls a tool and reads what was recorded of it. */
const record = (name, given) => JSON.parse(tooldex('executions', 'get', '--json', call(name, given).executionId))

try {
  assert.match(tooldex('apply', at('.')), /2 new/)

  const given = { readings: [32, 50, 68, -9999], unit: 'fahrenheit' }
  const { plan } = call('temperature_summary', given, '--dry-run')
  assert.equal(plan.isolation, 'isolated')
  assert.equal(plan.network, false)
  assert.match(plan.script.sha256, /^[0-9a-f]{64}$/)
  console.log('a dry run shows the script, its hash and how it would be kept apart')

  const summary = record('temperature_summary', given)
  assert.deepEqual(summary.outputData, { lowest: 0, highest: 20, mean: 10, readings: 3, leftOut: 1 })
  assert.equal(summary.logs.stdout, '3 of 4 readings are possible\n')
  assert.equal(summary.isolation, 'isolated')
  console.log('a script returns its result; what it prints is a log')

  const { outcome: failed } = call('temperature_summary', { readings: [-300] })
  assert.equal(failed.status, 'FAILED')
  assert.match(failed.errorMessage, /^ValueError: none of the readings is above absolute zero \(line 12 in main/)
  console.log('an error names the line of the script')

  const { outcome: sorted } = call('sort_lines', { text: 'x;10\ny;9\n', separator: ';', order: '--numeric-sort' })
  assert.equal(sorted.result.stdout, 'y;9\nx;10\n')
  console.log('a command is a list of words, and each value one of them')
} finally {
  rmSync(home, { recursive: true, force: true })
}
