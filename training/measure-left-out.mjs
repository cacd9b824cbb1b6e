// How well hybrid search ranks sets its encoder was not trained on: measure-left-out.mjs BENCH_DIR FOLDS_DIR [held]
//   FOLDS_DIR  <set>/encoder.bin as for fit-confidence.mjs; the shipped encoder for sets without
//   held       measures the requests held out of the training of FOLDS_DIR/held/encoder.bin instead; needs FOLDS_DIR/held/meta.json
// Build the project first.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadEncoder } from '../dist/search/encoder.js'
import { SearchEngine } from '../dist/search/search-engine.js'

const [bench, folds, held] = process.argv.slice(2)
const shipped = fileURLToPath(new URL('../model/encoder.bin', import.meta.url))
const perSet = 300
const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
const gain = (rank) => 1 / Math.log2(rank + 2)
const sum = (list) => list.reduce((total, value) => total + value, 0)
const meta = held && JSON.parse(readFileSync(join(folds, 'held/meta.json'), 'utf8'))

/** The requests of a set that are asked. */
function requestsOf(name) {
  const all = lines(join(bench, name, 'queries.jsonl'))
  if (meta) return all.filter((_, index) => meta.sets.find((set) => set.name === name).held[index] === 1)
  const step = Math.max(1, Math.ceil(all.length / perSet))
  return all.filter((_, index) => index % step === 0)
}

function measure(name) {
  const file = join(folds, meta ? 'held' : name, 'encoder.bin')
  const encoder = loadEncoder(existsSync(file) ? file : shipped)
  const engine = new SearchEngine(() => encoder)
  for (const { input_schema: inputSchema, description = '', ...tool } of lines(join(bench, name, 'tools.jsonl')))
    engine.add({ ...tool, description, inputSchema })
  const rows = requestsOf(name).map(({ query, relevant }) => {
    const found = engine.search({ query, limit: 10 }).hits.map(({ tool }) => tool.id)
    const gold = new Set(relevant)
    const got = sum(found.map((id, rank) => (gold.has(id) ? gain(rank) : 0)))
    const ideal = sum(Array.from({ length: Math.min(10, gold.size) }, (_, rank) => gain(rank)))
    const first = found.slice(0, 5).filter((id) => gold.has(id)).length
    return [got / ideal, Number(gold.has(found[0])), first / gold.size, Number(first === gold.size)]
  })
  return [rows.length, ...[0, 1, 2, 3].map((at) => (100 * sum(rows.map((row) => row[at]))) / rows.length)]
}

const names = readdirSync(bench).filter(
  (name) => existsSync(join(bench, name, 'tools.jsonl')) && !(meta && name === 'toolbench'),
)
const results = names.map((name) => [name, ...measure(name)])
const macro = [1, 2, 3, 4, 5].map((at) => sum(results.map((row) => row[at])) / results.length)
process.stdout.write(
  '| set | requests | nDCG@10 | hit@1 | recall@5 | all tools in five |\n| --- | --- | --- | --- | --- | --- |\n',
)
for (const [name, count, ...values] of [...results, ['**macro**', '', ...macro.slice(1)]])
  process.stdout.write(`| ${name} | ${count} | ${values.map((value) => value.toFixed(2)).join(' | ')} |\n`)
