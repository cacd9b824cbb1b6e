// Chooses the factor of the weights of src/search/first-hits.ts: fit-matches.mjs BENCH_DIR FOLDS_DIR
//   as for fit-confidence.mjs; prints the change of nDCG@10 of each set with the factor chosen on the others, then that of all
// Build the project first.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadEncoder } from '../dist/search/encoder.js'
import { matchGain } from '../dist/search/first-hits.js'
import { SearchEngine } from '../dist/search/search-engine.js'
import { TextIndex } from '../dist/search/text-index.js'
import { createTokenizer, termsOf } from '../dist/search/tokenize.js'

const [bench, folds] = process.argv.slice(2)
const shipped = fileURLToPath(new URL('../model/encoder.bin', import.meta.url))
const [perSet, compared, embeddingWeight] = [300, 20, 4.5]
/** The weights of the shares of the request in the tool, of its name and of its description in the request, to each other. */
const ratios = [1, 0.5, 0, 0.25]
const mostWords = 15
const factors = Array.from({ length: 16 }, (_, step) => step / 5)
const tokenizer = createTokenizer()

const familyOf = (set) => set.replace(/-(single|multi)$/, '')
const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
const sum = (list) => list.reduce((total, value) => total + value, 0)
const gain = (rank) => 1 / Math.log2(rank + 2)

/** The first hits of each request: whether they are right, and their scores with the shares of near words. */
function readSet(name) {
  const file = join(folds, name, 'encoder.bin')
  const path = existsSync(file) ? file : shipped
  const [encoder, matcher] = [loadEncoder(path), loadEncoder(path)]
  const engine = new SearchEngine(() => encoder)
  const index = new TextIndex(tokenizer)
  const positions = new Map()
  for (const { input_schema: inputSchema, description = '', ...rest } of lines(join(bench, name, 'tools.jsonl'))) {
    const tool = { ...rest, description, inputSchema }
    engine.add(tool)
    index.add(positions.size, tool)
    positions.set(tool.id, positions.size)
  }
  const all = lines(join(bench, name, 'queries.jsonl'))
  const step = Math.max(1, Math.ceil(all.length / perSet))
  const requests = all.filter((_, at) => at % step === 0)
  return { name, requests: requests.map((request) => readRequest(request, { engine, index, positions, matcher })) }
}

function readRequest({ query, relevant }, { engine, index, positions, matcher }) {
  const ids = engine.search({ query, limit: compared }).hits.map(({ tool }) => tool.id)
  const explained = [...engine.explainAll(ids, { query })]
  const words = (function* () {
    for (const id of ids) yield index.wordsOf(positions.get(id))
  })()
  const matches = matcher.matchTools(query, words)
  const count = new Set(termsOf(tokenizer, query)).size
  const gold = new Set(relevant)
  const hits = ids.map((id, at) => {
    const { bm25, nameCoverage, embedding, learned } = explained[at].signals
    const shares = matches === undefined ? undefined : [...matches[at]]
    const score = bm25 + nameCoverage + embeddingWeight * embedding + learned - matchGain(shares, count)
    return {
      isRight: gold.has(id),
      score,
      share: Math.min(count, mostWords) * sum(ratios.map((ratio, at) => ratio * (shares?.[at] ?? 0))),
    }
  })
  return { count: gold.size, hits: hits.sort((a, b) => b.score - a.score) }
}

const scoreOf = (factor, { score, share }) => score + factor * share

/** The factor with the best sum of the mean and the worst change over some sets. */
function choose(sets) {
  const before = sets.map((set) => quality(set, 0))
  const worth = factors.map((factor) => {
    const changes = sets.map((set, at) => quality(set, factor) - before[at])
    return sum(changes) / changes.length + Math.min(...changes)
  })
  return factors[worth.indexOf(Math.max(...worth))]
}

/** nDCG@10 with a factor. */
function quality({ requests }, factor) {
  const values = requests.map(({ count, hits }) => {
    const order = hits.toSorted((a, b) => scoreOf(factor, b) - scoreOf(factor, a))
    const ideal = sum(Array.from({ length: Math.min(10, count) }, (_, rank) => gain(rank)))
    return sum(order.slice(0, 10).map(({ isRight }, rank) => (isRight ? gain(rank) : 0))) / ideal
  })
  return (100 * sum(values)) / values.length
}

const sets = readdirSync(bench)
  .filter((name) => existsSync(join(bench, name, 'tools.jsonl')))
  .map(readSet)
const changes = sets.map((set) => {
  const factor = choose(sets.filter(({ name }) => familyOf(name) !== familyOf(set.name)))
  const [before, after] = [quality(set, 0), quality(set, factor)]
  process.stdout.write(`${set.name} ${before.toFixed(2)} -> ${after.toFixed(2)} with ${factor}\n`)
  return after - before
})
process.stdout.write(`mean ${(sum(changes) / changes.length).toFixed(2)}\n`)
process.stdout.write(`factor of all ${choose(sets)}\n`)
