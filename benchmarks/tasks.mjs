// What ten real tasks cost a model in tokens: search, describe and call through the three tools, against a list of everything.
import { fileURLToPath } from 'node:url'
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base'
import { listConfigNames } from '../dist/sources/cli/index.js'
import { RawPeer, table } from './measure.mjs'

const main = fileURLToPath(new URL('../dist/app/main.js', import.meta.url))
const tokens = (value) => countTokens(typeof value === 'string' ? value : JSON.stringify(value))

const tasks = [
  ['which files did I change since the last commit', 'git_status'],
  ['throw away my changes to one file', 'git_restore'],
  ['who last touched each line of a file', 'git_blame'],
  ['see what a crashed container printed', 'docker_logs'],
  ['list the pods of a namespace', 'kubectl_get'],
  ['open pull requests waiting for review', 'gh_pr_list'],
  ['run the test script of a package', 'npm_run'],
  ['pull one field out of a JSON document', 'jq_query'],
  ['is a service running', 'systemctl_status'],
  ['how many lines does a file have', 'coreutils_wc'],
]

export async function run() {
  const configs = listConfigNames()
  const open = async (...flags) => {
    const peer = new RawPeer([main, 'run', '--no-registry', ...flags, ...configs], { TOOLDEX_LEARNING: 'off' })
    await peer.open()
    return peer
  }
  const classic = await open('--classic')
  const everything = tokens((await classic.request('tools/list')).result.tools)
  await classic.close()
  const peer = await open()
  const three = tokens((await peer.request('tools/list')).result.tools)
  const ask = async (name, args) => (await peer.request('tools/call', { name, arguments: args })).result
  const rows = []
  for (const [query, wanted] of tasks) {
    const found = await ask('search_tools', { query })
    const read = await ask('describe_tool', { ids: [wanted] })
    const place = found.structuredContent.results.findIndex((hit) => hit.name === wanted) + 1
    const structure = tokens(found.structuredContent) + tokens(read.structuredContent)
    const parts = [tokens(found.content[0].text), tokens(read.content[0].text), tokens({ name: wanted, arguments: {} })]
    const sum = three + parts.reduce((total, part) => total + part, 0)
    rows.push([
      `“${query}”`,
      wanted,
      place || 'not among ten',
      parts[0],
      parts[1],
      sum,
      `${(everything / sum).toFixed(0)}×`,
      sum + structure,
    ])
  }
  await peer.close()
  const head = [
    'task',
    'tool',
    'place',
    'search answer',
    'description',
    'all of it, with the three tools',
    'less than listing',
    'with the structured copies',
  ]
  return `Listing all tools of the bundled configs costs ${everything.toLocaleString('en')} tokens before the first question; the three tools cost ${three}. Text as the model reads it, cl100k; a client that passes the structured content to the model as well pays the last column.\n\n${table(head, rows)}`
}
