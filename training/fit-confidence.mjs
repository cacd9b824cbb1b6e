// Fits the confidence of search and writes src/search/confidence-weights.ts: fit-confidence.mjs BENCH_DIR FOLDS_DIR
//   BENCH_DIR  retrieval sets, <set>/tools.jsonl and <set>/queries.jsonl
//   FOLDS_DIR  <set>/encoder.bin, an encoder that was not trained on the set; the shipped one for sets without
// Build the project first. Every request is put to the catalog with its tools (served), to the same catalog without them
// (removed), and to the catalogs of the other sets (foreign). All reported numbers are of sets left out of the regression.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadEncoder } from '../dist/search/encoder.js'
import { SearchEngine } from '../dist/search/search-engine.js'

const [bench, folds] = process.argv.slice(2)
const shipped = fileURLToPath(new URL('../model/encoder.bin', import.meta.url))
const target = fileURLToPath(new URL('../src/search/confidence-weights.ts', import.meta.url))
const perSet = 200
/** The shares of removed and foreign requests among those that are not served; a removed tool often leaves one as good. */
const shares = { served: 1, removed: 0.3, foreign: 0.7 }
const maxFalse = 0.1
const kinds = {
  // A fixed weight: likelihood prefers a smaller one than what holds one threshold for all catalogs.
  encoder: { mode: 'hybrid', features: ['share', 'shareByWords', 'cosine', 'mean'], fixed: { background: -6 } },
  service: { mode: 'hybrid', features: ['share', 'shareByWords', 'deviation'] },
  words: { mode: 'bm25', features: ['share', 'shareByWords'] },
}
/** Sets with the same tools are left out together. */
const familyOf = (set) => set.replace(/-(single|multi)$/, '')

const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
const sets = readdirSync(bench)
  .filter((name) => existsSync(join(bench, name, 'tools.jsonl')))
  .map((name) => ({
    name,
    queries: lines(join(bench, name, 'queries.jsonl')),
    tools: lines(join(bench, name, 'tools.jsonl')).map(({ input_schema: inputSchema, description = '', ...tool }) => ({
      ...tool,
      description,
      inputSchema,
    })),
  }))

const every = (list, count) => {
  const step = Math.max(1, Math.ceil(list.length / count))
  return list.filter((_, index) => index % step === 0)
}

/** What each request finds in the catalog of a set. */
function askSet(set, mode) {
  const fold = join(folds, set.name, 'encoder.bin')
  const encoder = loadEncoder(existsSync(fold) ? fold : shipped)
  const engine = new SearchEngine(() => encoder)
  for (const tool of set.tools) engine.add(tool)
  const rows = []
  const ask = (kind, query, hidden) => {
    const question = { query, mode, limit: 1, accept: hidden && (({ id }) => !hidden.has(id)) }
    const [hit] = engine.search(question).hits
    const why = hit && engine.explain(hit.tool.id, question)
    if (why?.evidence !== undefined || hit === undefined) rows.push({ set: set.name, kind, evidence: why?.evidence })
  }
  const mine = every(set.queries, perSet)
  for (const { query, relevant } of mine) {
    ask('served', query)
    ask('removed', query, new Set(relevant))
  }
  const others = sets.filter(({ name }) => familyOf(name) !== familyOf(set.name))
  for (const { queries } of others)
    for (const { query } of every(queries, mine.length / others.length)) ask('foreign', query)
  return rows
}

/** Logistic regression by Newton's method, with each set and kind weighing the same in all. */
function regress(rows, features, offsetOf) {
  const counts = new Map()
  const key = ({ set, kind }) => `${set} ${kind}`
  for (const row of rows) counts.set(key(row), (counts.get(key(row)) ?? 0) + 1)
  const size = features.length + 1
  const weights = new Float64Array(size)
  for (let step = 0; step < 25; step++) {
    const gradient = new Float64Array(size)
    const curve = Array.from({ length: size }, () => new Float64Array(size))
    for (const row of rows) {
      const x = [1, ...features.map((name) => row.evidence[name])]
      const p = 1 / (1 + Math.exp(-dot(weights, x) - offsetOf(row)))
      const count = (shares[row.kind] * perSet) / counts.get(key(row))
      for (let a = 0; a < size; a++) {
        gradient[a] += count * (Number(row.kind === 'served') - p) * x[a]
        for (let b = 0; b < size; b++) curve[a][b] += count * p * (1 - p) * x[a] * x[b]
      }
    }
    for (let a = 1; a < size; a++) {
      gradient[a] -= weights[a]
      curve[a][a] += 1
    }
    for (const [index, change] of solve(curve, gradient).entries()) weights[index] += change
  }
  return weights
}

const dot = (a, b) => a.reduce((sum, value, index) => sum + value * b[index], 0)

/** Gaussian elimination. */
function solve(matrix, right) {
  const rows = matrix.map((row, index) => [...row, right[index]])
  for (let column = 0; column < rows.length; column++) {
    const pivot = rows.findIndex((row, index) => index >= column && Math.abs(row[column]) > 1e-12)
    ;[rows[column], rows[pivot]] = [rows[pivot], rows[column]]
    for (const row of rows) {
      if (row === rows[column]) continue
      const factor = row[column] / rows[column][column]
      for (let at = column; at < row.length; at++) row[at] -= factor * rows[column][at]
    }
  }
  return rows.map((row, index) => row.at(-1) / row[index])
}

/** How often a served request is more confident than one that is not. */
function auroc(yes, no) {
  let wins = 0
  for (const a of yes) for (const b of no) wins += a > b ? 1 : a === b ? 0.5 : 0
  return wins / yes.length / no.length
}

const families = [...new Set(sets.map(({ name }) => familyOf(name)))]
const fitted = {}
let report = ''
let thresholds
for (const [kind, { mode, features, fixed = {} }] of Object.entries(kinds)) {
  const offsetOf = ({ evidence }) =>
    Object.entries(fixed).reduce((sum, [name, weight]) => sum + weight * evidence[name], 0)
  const all = sets.flatMap((set) => askSet(set, mode))
  const rows = all.filter(({ evidence }) => evidence !== undefined)
  const confidence = new Map(all.map((row) => [row, 0]))
  const apply = (weights, row) =>
    1 / (1 + Math.exp(-dot(weights, [1, ...features.map((name) => row.evidence[name])]) - offsetOf(row)))
  for (const family of families) {
    const isOut = ({ set }) => familyOf(set) === family
    const weights = regress(
      rows.filter((row) => !isOut(row)),
      features,
      offsetOf,
    )
    for (const row of rows.filter(isOut)) confidence.set(row, apply(weights, row))
  }
  const weights = regress(rows, features, offsetOf)
  fitted[kind] = Object.fromEntries([
    ['base', weights[0]],
    ...features.map((name, index) => [name, weights[index + 1]]),
    ...Object.entries(fixed),
  ])
  const of = (is, set) =>
    all.filter((row) => row.kind === is && (set ?? row.set) === row.set).map((row) => confidence.get(row))
  const served = of('served').sort((a, b) => a - b)
  // The words a search by words alone has say less; the threshold is that of the shipped encoder.
  thresholds ??= { good: 0.5, weak: Math.round(1000 * served[Math.floor(maxFalse * served.length)]) / 1000 }
  report += `${kind}\n${tableOf(of)}`
  if (kind === 'encoder') report += calibration(all, confidence)
}

function tableOf(of) {
  const below = (values) => (100 * values.filter((value) => value < thresholds.weak).length) / values.length
  const lineOf = (set) => {
    const [served, removed, foreign] = ['served', 'removed', 'foreign'].map((kind) => of(kind, set))
    return [auroc(served, foreign), auroc(served, removed), below(served), below(foreign), below(removed)]
  }
  const format = (name, [a, b, ...shares]) =>
    `| ${name} | ${a.toFixed(3)} | ${b.toFixed(3)} | ${shares.map((share) => share.toFixed(1)).join(' | ')} |\n`
  const each = sets.map(({ name }) => [name, lineOf(name)])
  const mean = each[0][1].map((_, at) => each.reduce((sum, [, line]) => sum + line[at], 0) / each.length)
  const head =
    '| set left out | AUROC, other requests | AUROC, tool removed | false | true, other requests | true, tool removed |\n| --- | --- | --- | --- | --- | --- |\n'
  return (
    head + [...each, ['**mean**', mean], ['**pooled**', lineOf()]].map(([name, line]) => format(name, line)).join('')
  )
}

/** Served requests by stated confidence, where half of the requests are served. */
function calibration(all, confidence) {
  const count = (kind) => all.filter((row) => row.kind === kind).length
  const weightOf = ({ kind }) => shares[kind] / count(kind)
  let ece = 0
  let text = '| confidence | share of requests | mean confidence | served |\n| --- | --- | --- | --- |\n'
  for (let bin = 0; bin < 10; bin++) {
    const rows = all.filter((row) => Math.min(9, Math.floor(10 * confidence.get(row))) === bin)
    if (rows.length === 0) continue
    const mass = rows.reduce((sum, row) => sum + weightOf(row), 0)
    const mean = rows.reduce((sum, row) => sum + weightOf(row) * confidence.get(row), 0) / mass
    const right = rows.reduce((sum, row) => sum + weightOf(row) * Number(row.kind === 'served'), 0) / mass
    ece += (mass / 2) * Math.abs(mean - right)
    text += `| ${bin / 10} to ${(bin + 1) / 10} | ${(50 * mass).toFixed(1)} % | ${mean.toFixed(2)} | ${right.toFixed(2)} |\n`
  }
  return `${text}ECE ${ece.toFixed(3)}\n`
}

const text = readFileSync(target, 'utf8')
const object = (values) =>
  `{ ${Object.entries(values)
    .map(([name, value]) => `${name}: ${Number(value.toFixed(2))}`)
    .join(', ')} }`
const body = Object.entries(fitted).map(([kind, weights]) => `  ${kind}: ${object(weights)},\n`)
const numbers = `  good: ${thresholds.good},\n  weak: ${thresholds.weak},\n`
writeFileSync(
  target,
  text.replace(/(Weights: Calibration = \{\n)[\s\S]*?(\n?\}\n)$/, `$1${body.join('')}${numbers}}\n`),
)
process.stdout.write(report)
