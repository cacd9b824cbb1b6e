// How well each way of searching finds the tools of public sets; TOOLDEX_BENCH_DATA and TOOLDEX_BENCH_PEERS as in search-speed.mjs.
import { loadEncoder } from '../dist/search/encoder.js'
import { SearchEngine } from '../dist/search/search-engine.js'
import { table } from './measure.mjs'
import { openMiniSearch, readQueries, readTools, sets, toRecord } from './search-speed.mjs'

const encoder = loadEncoder(new URL('../model/encoder.bin', import.meta.url))
const sampledAbove = 500
const every = 3
const notTrainedOn = 'toolbench'

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** The floor: BM25 as the textbook has it, the name counted three times; no stop words, no stems, no taking names apart. */
function plainBm25(tools) {
  const [k1, b] = [0.9, 0.4]
  const postings = new Map()
  const lengths = tools.map((tool, position) => {
    const { name, namespace, description, tags, params } = toRecord(tool)
    const words = wordsOf([name, name, name, namespace, description, tags, params].join(' '))
    for (const word of words) {
      const list = postings.get(word) ?? new Map()
      postings.set(word, list.set(position, (list.get(position) ?? 0) + 1))
    }
    return words.length
  })
  const average = lengths.reduce((sum, length) => sum + length, 0) / lengths.length
  return (query) => {
    const scores = new Map()
    for (const word of wordsOf(query)) {
      const list = postings.get(word) ?? new Map()
      const idf = Math.log(1 + (tools.length - list.size + 0.5) / (list.size + 0.5))
      for (const [position, count] of list) {
        const norm = k1 * (1 - b + (b * lengths[position]) / average)
        scores.set(position, (scores.get(position) ?? 0) + (idf * count * (k1 + 1)) / (count + norm))
      }
    }
    const best = [...scores].sort(([a, one], [c, other]) => other - one || a - c).slice(0, 10)
    return best.map(([position]) => tools[position].id)
  }
}

async function openAll(tools) {
  const engine = new SearchEngine(() => encoder)
  for (const tool of tools) engine.add(tool)
  const inMode = (mode) => (query) => engine.search({ query, mode, limit: 10 }).hits.map(({ tool }) => tool.id)
  const methods = {
    'plain BM25': plainBm25(tools),
    'Tooldex substring': inMode('substring'),
    'Tooldex bm25': inMode('bm25'),
    'Tooldex hybrid': inMode('hybrid'),
  }
  const mini = await openMiniSearch()
  if (mini === undefined) return methods
  for (const tool of tools) mini.add(mini.toInput(tool))
  return { ...methods, 'MiniSearch 7': mini.search }
}

const gain = (rank) => 1 / Math.log2(rank + 2)

const metrics = {
  'nDCG@10': (found, gold) => {
    const ideal = Array.from({ length: Math.min(10, gold.size) }, (_, rank) => gain(rank))
    const got = found.slice(0, 10).map((id, rank) => (gold.has(id) ? gain(rank) : 0))
    const sum = (list) => list.reduce((total, value) => total + value, 0)
    return sum(got) / sum(ideal)
  },
  'hit@1': (found, gold) => (gold.has(found[0]) ? 1 : 0),
  'recall@5': (found, gold) => found.slice(0, 5).filter((id) => gold.has(id)).length / gold.size,
}

/** For each method the average of each metric, in hundredths. */
async function measureSet(set) {
  const all = readQueries(set)
  const queries = all.length > sampledAbove ? all.filter((_, index) => index % every === 0) : all
  const methods = await openAll(readTools(set))
  const means = {}
  for (const [name, search] of Object.entries(methods)) {
    const answers = queries.map(({ query, relevant }) => [search(query), new Set(relevant)])
    means[name] = Object.fromEntries(
      Object.entries(metrics).map(([metric, measure]) => {
        const total = answers.reduce((sum, [found, gold]) => sum + measure(found, gold), 0)
        return [metric, (100 * total) / queries.length]
      }),
    )
  }
  return { set, queries: queries.length, means }
}

function metricTable(metric, results) {
  const methods = Object.keys(results[0].means)
  const rows = results.map(({ set, queries, means }) => [
    set === notTrainedOn ? `${set} (never trained on)` : set,
    queries,
    ...methods.map((name) => means[name][metric].toFixed(1)),
  ])
  const macro = methods.map((name) => {
    const sum = results.reduce((total, { means }) => total + means[name][metric], 0)
    const mean = (sum / results.length).toFixed(1)
    return name === 'Tooldex hybrid' ? `${mean} (trained on these)` : `**${mean}**`
  })
  return table([metric, 'queries', ...methods], [...rows, ['**macro average**', '', ...macro]])
}

export async function run() {
  if (sets().length === 0) return 'Not measured: TOOLDEX_BENCH_DATA names no folder of sets.'
  const results = []
  for (const set of sets()) {
    process.stderr.write(`  ${set}\n`)
    results.push(await measureSet(set))
  }
  const notes = [
    'The shipped encoder was trained on the development queries of these sets, all but toolbench: **the hybrid numbers on',
    'the others show what it has learned, not how it does on tools it has never met**. For that, see the table of sets left',
    'out in turn in [training/README.md](../training/README.md). In the bm25',
    'column only a handful of constants (field weights, k1, b) were chosen on such sets.',
    'Labels are incomplete (tools that would do as well are not named), so compare columns, and do not read a number as the truth.',
    `In sets of more than ${sampledAbove} queries, every third is asked.`,
    ...('MiniSearch 7' in results[0].means ? [] : ['MiniSearch is not there in TOOLDEX_BENCH_PEERS, so not measured.']),
  ]
  return [notes.join('\n'), ...Object.keys(metrics).map((metric) => metricTable(metric, results))].join('\n\n')
}
