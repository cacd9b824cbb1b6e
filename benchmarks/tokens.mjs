// What a client's model reads before it can do anything, in tokens (cl100k).
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base'
import { listConfigNames } from '../dist/sources/cli/index.js'
import { RawPeer, table } from './measure.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const tokens = (value) => countTokens(typeof value === 'string' ? value : JSON.stringify(value))

async function ask(args, requests) {
  const peer = new RawPeer([here('../dist/app/main.js'), 'run', '--no-registry', ...args])
  await peer.open()
  const answers = []
  for (const [method, params] of requests) answers.push((await peer.request(method, params)).result)
  await peer.close()
  return answers
}

async function row(title, configs, query) {
  const search = { name: 'search_tools', arguments: { query } }
  const [{ tools: classic }] = await ask(['--classic', ...configs], [['tools/list', {}]])
  const [{ tools: progressive }, overview, found] = await ask(configs, [
    ['tools/list', {}],
    ['tools/call', { name: 'search_tools', arguments: {} }],
    ['tools/call', search],
  ])
  const [list, three] = [tokens(classic), tokens(progressive)]
  const text = (result) => tokens(result.content[0].text)
  const saved = `${(100 * (1 - three / list)).toFixed(1)} %`
  const [asText, asStructure] = [text(found), tokens(found.structuredContent)]
  const answer = [`${asText} (“${query}”)`, asStructure, asText + asStructure]
  return [title, classic.length, list.toLocaleString('en'), three, saved, text(overview), ...answer]
}

export async function run() {
  const names = listConfigNames()
  const rows = [await row('all bundled configs', names, 'undo changes to a file')]
  rows.push(await row('git', ['git'], 'commit'))
  const obsidian = here('../../shared/data/climax-configs/obsidian.yaml')
  if (existsSync(obsidian)) rows.push(await row('obsidian.yaml (CLImax)', [obsidian], 'search notes'))
  const before = ['configs', 'tools', 'every tool listed (`--classic`)', 'the three tools', 'less', 'overview (text)']
  return table([...before, 'a search answer as text', 'as structure', 'both'], rows)
}
