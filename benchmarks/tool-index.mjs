// ToolIndex.search beside a plain loop of `includes` over the same texts.
import { ToolIndex } from '../dist/index.js'
import { median, table, us } from './measure.mjs'

const verbs = ['create', 'delete', 'list', 'update', 'show', 'restart', 'describe', 'export', 'import', 'validate']
const nouns = ['container', 'branch', 'commit', 'pod', 'bucket', 'invoice', 'customer', 'alarm', 'document', 'pipeline']

function makeConfigs(count) {
  const configs = []
  for (let first = 0; first < count; first += 50) {
    const tools = Array.from({ length: Math.min(50, count - first) }, (_, offset) => {
      const number = first + offset
      const [verb, noun] = [verbs[number % 10], nouns[Math.floor(number / 10) % 10]]
      const description = `${verb} one ${noun} of the ${number % 7 === 0 ? 'staging' : 'production'} account and print what changed, in batch ${number}`
      return { name: `${verb}_${noun}_${number}`, description, args: [{ name: 'id', required: true }] }
    })
    configs.push({
      name: `service-${first / 50}`,
      command: 'true',
      category: nouns[(first / 50) % 10],
      tags: ['cloud'],
      tools,
    })
  }
  return configs
}

/** The floor: what anyone would write in five lines. */
function plainSearch(entries, texts, query, limit) {
  const found = []
  const wanted = query.toLowerCase()
  for (let index = 0; index < texts.length && found.length < limit; index++) {
    if (texts[index].includes(wanted)) found.push(entries[index])
  }
  return found
}

const cases = [
  ['common word, limit 10', 'create', 10],
  ['rare word, limit 10', 'batch 49', 10],
  ['two letters, limit 10', 'po', 10],
  ['common word, no limit', 'production', Number.POSITIVE_INFINITY],
  ['matches nothing', 'xylophone', 10],
  ['nothing, from known letters', 'restart invoice of', 10],
]

function time(work, count) {
  const runs = Math.max(7, Math.min(2000, Math.floor(2_000_000 / count)))
  for (let index = 0; index < Math.min(runs, 200); index++) work()
  const batches = Array.from({ length: 9 }, () => {
    const started = performance.now()
    for (let index = 0; index < runs; index++) work()
    return (performance.now() - started) / runs
  })
  return median(batches)
}

export async function run() {
  const rows = []
  const builds = []
  for (const count of [50, 1000, 10_000, 100_000]) {
    const configs = makeConfigs(count)
    globalThis.gc?.()
    const before = process.memoryUsage().rss
    const started = performance.now()
    const index = ToolIndex.fromConfigs(configs)
    const built = performance.now() - started
    globalThis.gc?.()
    const grown = process.memoryUsage().rss - before
    builds.push([
      count.toLocaleString('en'),
      `${built.toFixed(0)} ms`,
      `${(grown / 1024 / (count / 1000)).toFixed(0)} KiB`,
    ])
    const entries = index.search({ limit: Number.POSITIVE_INFINITY })
    const texts = entries.map((entry) =>
      [entry.toolName, entry.description, entry.cliName, entry.category, ...entry.tags].join(' ').toLowerCase(),
    )
    for (const [name, query, limit] of cases) {
      const [ours, floor] = [index.search({ query, limit }), plainSearch(entries, texts, query, limit)]
      if (JSON.stringify(ours) !== JSON.stringify(floor)) throw new Error(`${name} differs at ${count}`)
      const plain = time(() => plainSearch(entries, texts, query, limit), count)
      const mine = time(() => index.search({ query, limit }), count)
      rows.push([count.toLocaleString('en'), name, us(plain), us(mine), `${(plain / mine).toFixed(1)}×`])
    }
  }
  const goal = 'Goal: never slower than the loop, and at least 5 times faster for a query that matches nothing.'
  return `${goal}\n\n${table(['tools', 'query', 'loop of includes', 'ToolIndex', 'faster by'], rows)}\n\nBuilding it, and resident memory per 1,000 tools (small catalogs are within the noise of the measurement):\n\n${table(['tools', 'build', 'per 1,000 tools'], builds)}`
}
