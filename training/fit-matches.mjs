// Fits what near words add to the score of the first hits (src/search/soft-matches.ts): fit-matches.mjs BENCH_DIR FOLDS_DIR
//   as for fit-confidence.mjs; prints the change of nDCG@10 of each set with weights fitted on the others, then the weights of all
// Build the project first.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadEncoder } from '../dist/search/encoder.js'
import { SearchEngine } from '../dist/search/search-engine.js'
import { matchGain } from '../dist/search/soft-matches.js'
import { TextIndex } from '../dist/search/text-index.js'
import { createTokenizer } from '../dist/search/tokenize.js'

const [bench, folds] = process.argv.slice(2)
const shipped = fileURLToPath(new URL('../model/encoder.bin', import.meta.url))
const [perSet, compared, embeddingWeight] = [300, 20, 4.5]
/** The shares that take part: of the request in the tool, of the name and of the description in the request. */
const used = [0, 1, 3]
const [scoreScale, steps, rate, decay] = [10, 200, 0.05, 0.003]

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
  const index = new TextIndex(createTokenizer())
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
  const gold = new Set(relevant)
  const hits = ids.map((id, at) => {
    const { bm25, nameCoverage, embedding, learned } = explained[at].signals
    const shares = matches === undefined ? undefined : [...matches[at]]
    const score = bm25 + nameCoverage + embeddingWeight * embedding + learned - matchGain(shares)
    return { isRight: gold.has(id), score, shares: used.map((share) => shares?.[share] ?? 0) }
  })
  return { count: gold.size, hits: hits.sort((a, b) => b.score - a.score) }
}

const scoreOf = ([scale, ...weights], { score, shares }) =>
  (scale * score) / scoreScale + sum(weights.map((weight, at) => weight * shares[at]))

/** The softmax of the right hits among the first, by gradient descent with momentum; each set weighs the same. */
function train(sets) {
  const size = used.length + 1
  const weights = [1, ...used.map(() => 0)]
  const [first, second] = [new Float64Array(size), new Float64Array(size)]
  for (let step = 1; step <= steps; step++) {
    const slope = weights.map((weight, at) => (at === 0 ? 0 : decay * weight))
    for (const { requests } of sets) {
      const share = 1 / sets.length / requests.length
      for (const { hits } of requests) addSlope(slope, { hits, weights, share })
    }
    for (let at = 0; at < size; at++) {
      first[at] = 0.9 * first[at] + 0.1 * slope[at]
      second[at] = 0.99 * second[at] + 0.01 * slope[at] ** 2
      weights[at] -= (rate * (first[at] / (1 - 0.9 ** step))) / (Math.sqrt(second[at] / (1 - 0.99 ** step)) + 1e-9)
    }
  }
  return weights
}

function addSlope(slope, { hits, weights, share }) {
  const right = hits.filter(({ isRight }) => isRight).length
  if (right === 0 || right === hits.length) return
  const scores = hits.map((hit) => scoreOf(weights, hit))
  const most = Math.max(...scores)
  const powers = scores.map((score) => Math.exp(score - most))
  const total = sum(powers)
  for (const [at, { isRight, score, shares }] of hits.entries()) {
    const pull = share * (powers[at] / total - Number(isRight) / right)
    slope[0] += (pull * score) / scoreScale
    for (const [column, value] of shares.entries()) slope[column + 1] += pull * value
  }
}

/** nDCG@10 by some weights; none for the scores as they are. */
function quality({ requests }, weights) {
  const values = requests.map(({ count, hits }) => {
    const order = weights ? hits.toSorted((a, b) => scoreOf(weights, b) - scoreOf(weights, a)) : hits
    const ideal = sum(Array.from({ length: Math.min(10, count) }, (_, rank) => gain(rank)))
    return sum(order.slice(0, 10).map(({ isRight }, rank) => (isRight ? gain(rank) : 0))) / ideal
  })
  return (100 * sum(values)) / values.length
}

const sets = readdirSync(bench)
  .filter((name) => existsSync(join(bench, name, 'tools.jsonl')))
  .map(readSet)
const changes = sets.map((set) => {
  const others = sets.filter(({ name }) => familyOf(name) !== familyOf(set.name))
  const [before, after] = [quality(set), quality(set, train(others))]
  process.stdout.write(`${set.name} ${before.toFixed(2)} -> ${after.toFixed(2)}\n`)
  return after - before
})
process.stdout.write(`mean ${(sum(changes) / changes.length).toFixed(2)}\n`)
const [scale, ...weights] = train(sets)
process.stdout.write(`weights ${weights.map((weight) => ((weight * scoreScale) / scale).toFixed(2)).join(', ')}\n`)
