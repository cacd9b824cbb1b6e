import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'tooldex-example-'))
const { DATABASE_URL: _database, TOOLDEX_URL: _server, ...outer } = process.env
const env = { ...outer, TOOLDEX_HOME: home }
const tooldex = (words, input = '') =>
  execFileSync(process.execPath, [at('../../dist/app/main.js'), ...words], { env, input, encoding: 'utf8' })

try {
  assert.match(tooldex(['apply', at('.')]), /8 new, 0 changed, 0 removed/)
  assert.match(tooldex(['apply', at('.')]), /Nothing to do/)
  console.log('applying twice is applying once')

  const counted = JSON.parse(tooldex(['call', 'text_statistics', 'One sentence. And another sentence.', '--top', '1']))
  assert.deepEqual([counted.words, counted.sentences, counted.frequent], [5, 2, ['sentence']])
  console.log('a tool of the examples is called')

  tooldex(['tools', 'edit', 'folder_sizes', '-'], '{"summary": "Something else."}')
  const plan = tooldex(['apply', at('.'), '--dry-run'])
  assert.match(plan, /~ tool folder_sizes: summary/)
  console.log('a change that is not in the files shows')

  tooldex(['apply', at('.')])
  const tool = JSON.parse(tooldex(['tools', 'get', 'folder_sizes', '--json']))
  assert.equal(tool.summary, 'How much room a folder and those in it take.')
  assert.equal(tool.version, 3)
  console.log('and is undone by a new version')
} finally {
  rmSync(home, { recursive: true, force: true })
}
