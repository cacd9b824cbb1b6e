import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const repo = mkdtempSync(join(tmpdir(), 'tooldex-example-'))
const git = (...words) =>
  execFileSync('git', ['-C', repo, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...words], {
    encoding: 'utf8',
  })
git('init', '--quiet')
writeFileSync(join(repo, 'notes.txt'), 'first line\n')
git('add', '.')
git('commit', '--quiet', '-m', 'Write the first line')
const before = git('rev-parse', 'HEAD')

const client = new Client({ name: 'example', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [at('../../dist/app/main.js'), 'run', '--policy', at('policy.yaml'), 'git'],
    cwd: repo,
  }),
)
const ask = (name, args) => client.callTool({ name, arguments: args })
const call = (name, args = {}) => ask('call_tool', { name, arguments: args })

try {
  const log = await call('git_log', { max_count: 5 })
  assert.match(log.content[0].text, /Write the first line/)
  console.log('reading works')

  const { structuredContent: found } = await ask('search_tools', { query: 'commit push add write', limit: 100 })
  const names = found.results.map((hit) => hit.name)
  assert.ok(!names.includes('git_commit') && !names.includes('git_push'), `found ${names}`)
  const refused = await call('git_commit', { message: 'no' })
  assert.equal(refused.isError, true)
  assert.equal(refused.structuredContent.error.code, 'TOOL_NOT_FOUND')
  console.log('tools that write do not exist here')

  const tooMany = await call('git_log', { max_count: 1000 })
  assert.equal(tooMany.structuredContent.error.code, 'POLICY_REFUSED')
  console.log('values outside the bounds are refused:', tooMany.content[0].text.split('\n')[1].trim())

  assert.equal(git('rev-parse', 'HEAD'), before)
  assert.equal(git('status', '--porcelain'), '')
  console.log('the repository is as it was')
} finally {
  await client.close()
  rmSync(repo, { recursive: true, force: true })
}
