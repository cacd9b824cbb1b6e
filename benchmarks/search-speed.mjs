// How long building a search index and asking it takes, beside other search engines on the same tools and queries.
// TOOLDEX_BENCH_DATA is a folder of sets (<set>/tools.jsonl, queries.jsonl), TOOLDEX_BENCH_PEERS one whose node_modules
// has the other engines: minisearch, @orama/orama, flexsearch, better-sqlite3.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { loadEncoder } from '../dist/search/encoder.js'
import { PastQueries } from '../dist/search/past-queries.js'
import { SearchEngine } from '../dist/search/search-engine.js'
import { toolFields } from '../dist/search/tool-fields.js'
import { median, ms, percentile, table } from './measure.mjs'
import { drawLines } from './plot.mjs'

const data = process.env.TOOLDEX_BENCH_DATA
const peersFolder = process.env.TOOLDEX_BENCH_PEERS
const self = fileURLToPath(import.meta.url)
const encoder = new URL('../model/encoder.bin', import.meta.url)

const sizes = [1000, 5000, 14_000, 50_000, 100_000]
const most = { queries: 300, warmUp: 50, buildMs: 90_000, queryMs: 2000, askMs: 8000, warmUpMs: 2000 }
const reference = 14_000
// Builds are over in a fraction of a second, so they are done again and again, each in a fresh process, in turn.
const builds = 7

const lines = (file) => readFileSync(file, 'utf8').split('\n').filter(Boolean)
const linesOf = (set, kind) => lines(join(data, set, `${kind}.jsonl`))

/** The sets of the data folder; none where it is not given. */
export const sets = () => (data ? readdirSync(data).filter((set) => existsSync(join(data, set, 'queries.jsonl'))) : [])

/** A line of tools.jsonl as search reads it. */
function toTool(line, prefix = '') {
  const { id, name, description, namespace, category, tags, input_schema: inputSchema } = JSON.parse(line)
  // As what is read from a file or a database is: one piece in memory.
  return {
    id: Buffer.from(prefix + id).toString(),
    name,
    description: description ?? '',
    namespace,
    category,
    tags,
    inputSchema,
  }
}

export const readTools = (set) => linesOf(set, 'tools').map((line) => toTool(line))
export const readQueries = (set) => linesOf(set, 'queries').map((line) => JSON.parse(line))

/** A tool as the flat record that other engines take. */
export function toRecord(tool) {
  const params = toolFields(tool).filter(({ field }) => field.startsWith('param'))
  const tags = [tool.category ?? '', ...(tool.tags ?? [])].join(' ').trim()
  const { id, name, description, namespace = '' } = tool
  return { id, name, namespace, description, tags, params: params.map(({ text }) => text).join(' ') }
}
const fields = ['name', 'namespace', 'description', 'tags', 'params']

/** The same order every time. */
function shuffle(list) {
  let state = 1
  const all = [...list]
  for (let index = all.length - 1; index > 0; index--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const other = state % (index + 1)
    ;[all[index], all[other]] = [all[other], all[index]]
  }
  return all
}

/** All tools of all sets; past their number they come again under other ids, each with texts of its own in memory. */
function readCatalog(count) {
  const pool = sets()
    .filter((set) => set !== 'metatool-multi')
    .flatMap((set) => linesOf(set, 'tools').map((line) => [line, `${set}/`]))
  const mixed = shuffle(pool)
  const at = (index) => {
    const [line, prefix] = mixed[index % mixed.length]
    return toTool(line, `${Math.floor(index / mixed.length)}/${prefix}`)
  }
  return {
    pooled: mixed.length,
    tools: Array.from({ length: count }, (_, index) => at(index)),
    more: Array.from({ length: 200 }, (_, index) => at(count + index)),
  }
}

/** As many from each set as its share of all queries. */
const sampleQueries = () =>
  shuffle(sets().flatMap((set) => readQueries(set).map(({ query }) => query))).slice(0, most.queries + most.warmUp)

/** A module of the peers' folder; undefined where it is not there. */
async function importPeer(name) {
  if (!peersFolder) return undefined
  try {
    const path = createRequire(join(peersFolder, 'package.json')).resolve(name)
    return await import(pathToFileURL(path).href)
  } catch {
    return undefined
  }
}

/** An engine of Tooldex in one mode; its first search belongs to the build. */
function tooldex(mode) {
  let loading = 0
  const load = () => {
    const started = performance.now()
    const loaded = loadEncoder(encoder)
    loading += performance.now() - started
    return loaded
  }
  const engine = new SearchEngine(load)
  return {
    loading: () => loading,
    toInput: (tool) => tool,
    add: (tool) => engine.add(tool),
    finish: () => engine.search({ query: 'send a message', mode }),
    search: (query, learned) => engine.search({ query, mode, limit: 10, learned }).hits.map(({ tool }) => tool.id),
  }
}

/** All requests but those that are asked, each with the tools that were right; as many as there are. */
function readPast(asked) {
  const past = new PastQueries(loadEncoder(encoder))
  const isAsked = new Set(asked)
  for (const set of sets()) {
    const home = set === 'metatool-multi' ? 'metatool-single' : set
    for (const { query, relevant } of readQueries(set))
      if (!isAsked.has(query))
        past.add(
          query,
          relevant.map((id) => `0/${home}/${id}`),
        )
  }
  return past
}

export async function openMiniSearch() {
  const peer = await importPeer('minisearch')
  if (peer === undefined) return undefined
  const index = new (peer.default?.default ?? peer.default)({
    fields,
    searchOptions: { prefix: false, boost: { name: 3 } },
  })
  return {
    toInput: toRecord,
    add: (record) => index.add(record),
    search: (query) =>
      index
        .search(query)
        .slice(0, 10)
        .map(({ id }) => id),
  }
}

async function openOrama() {
  const peer = await importPeer('@orama/orama')
  if (peer === undefined) return undefined
  const index = peer.create({ schema: Object.fromEntries(fields.map((field) => [field, 'string'])) })
  return {
    toInput: toRecord,
    add: (record) => peer.insert(index, record),
    search: (term) => peer.search(index, { term, limit: 10, boost: { name: 3 } }).hits.map(({ id }) => id),
  }
}

async function openFts5() {
  const peer = await importPeer('better-sqlite3')
  if (peer === undefined) return undefined
  const db = new peer.default(':memory:')
  db.exec(`CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, ${fields.join(', ')}, tokenize = 'porter unicode61')`)
  // Ordering by `rank` is bm25() with these weights, and what SQLite recommends as the faster way to ask for it.
  db.exec(`INSERT INTO t(t, rank) VALUES ('rank', 'bm25(0.0, 3.0, 1.0, 1.0, 1.0, 1.0)')`)
  const insert = db.prepare(`INSERT INTO t VALUES (@id, ${fields.map((field) => `@${field}`).join(', ')})`)
  const select = db.prepare('SELECT id FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10').pluck()
  db.exec('BEGIN')
  return {
    toInput: toRecord,
    add: (record) => insert.run(record),
    finish: () => db.exec('COMMIT'),
    search(query) {
      const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
      return words.size === 0 ? [] : select.all([...words].map((word) => `"${word}"`).join(' OR '))
    },
  }
}

async function openFlexSearch() {
  const peer = await importPeer('flexsearch')
  if (peer === undefined) return undefined
  const { Document } = peer.default ?? peer
  const index = new Document({ document: { id: 'id', index: fields } })
  return {
    toInput: toRecord,
    add: (record) => index.add(record),
    // Without `suggest` every word must be found, which no sentence survives.
    search: (query) => index.search(query, { limit: 10, suggest: true, merge: true }).map(({ id }) => id),
  }
}

const engines = {
  'Tooldex hybrid': () => tooldex('hybrid'),
  'Tooldex bm25': () => tooldex('bm25'),
  'MiniSearch 7': openMiniSearch,
  'Orama 3': openOrama,
  'SQLite FTS5, porter': openFts5,
  FlexSearch: openFlexSearch,
}
const isOurs = (name) => name.startsWith('Tooldex')

const timed = (work) => {
  const started = performance.now()
  work()
  return performance.now() - started
}

/** Builds the index of an engine; undefined where that takes too long. The encoder is loaded within, with the first search. */
function build(engine, tools) {
  let inputs
  const records = timed(() => {
    inputs = tools.map(engine.toInput)
  })
  globalThis.gc?.()
  const emptyRss = process.memoryUsage().rss
  const started = performance.now()
  for (const [index, input] of inputs.entries()) {
    engine.add(input)
    if (index % 100 === 0 && performance.now() - started > most.buildMs) return undefined
  }
  engine.finish?.()
  return { build: performance.now() - started, records, loading: engine.loading?.() ?? 0, emptyRss }
}

/** A build and nothing else; undefined where the engine is not there. */
async function buildOne(name, count) {
  const engine = await engines[name]()
  return engine === undefined ? undefined : build(engine, readCatalog(count).tools)
}

/** One engine at one size, in a process of its own; undefined where the engine is not there. */
async function measureOne(name, count) {
  const engine = await engines[name]()
  if (engine === undefined) return undefined
  const { tools, more, pooled } = readCatalog(count)
  const queries = sampleQueries()
  const built = build(engine, tools)
  if (built === undefined) return { name, count, tooSlow: true }
  if (engine.search(tools[0].name).length === 0) throw new Error(`${name} does not find a tool by its name`)
  const warmUntil = performance.now() + most.warmUpMs
  for (const query of queries.slice(most.queries)) if (performance.now() < warmUntil) engine.search(query)
  const times = []
  const askUntil = performance.now() + most.askMs
  for (const query of queries.slice(0, most.queries)) {
    if (times.length >= 15 && performance.now() > askUntil && !isOurs(name)) break
    times.push(timed(() => engine.search(query)))
  }
  globalThis.gc?.()
  const rss = process.memoryUsage().rss
  const learned = name === 'Tooldex hybrid' && count === reference ? measureLearned(engine, queries) : undefined
  const added = isOurs(name) ? measureAdds(engine, more) : undefined
  return { name, count, pooled, ...built, times, rss, learned, added }
}

/** The same requests while others are remembered: looking for those that are alike belongs to the search. */
function measureLearned(engine, queries) {
  const past = readPast(queries)
  const ask = (query) => engine.search(query, past.votes(query))
  for (const query of queries.slice(most.queries)) ask(query)
  return { remembered: past.size, times: queries.slice(0, most.queries).map((query) => timed(() => ask(query))) }
}

/** Adding one more tool, and the first search after it, which must find it. */
function measureAdds(engine, more) {
  const [adds, finds] = [[], []]
  for (const [index, tool] of more.entries()) {
    // A word that no other tool has, of letters alone: digits would be words of their own.
    const word = `zq${Array.from(String(index), (digit) => 'bcdfghjklm'[digit]).join('')}zq`
    const one = { ...tool, name: `${tool.name} ${word}` }
    const add = timed(() => engine.add(one))
    const find = timed(() => {
      if (engine.search(word)[0] !== one.id) throw new Error(`${one.id} was added, but not found`)
    })
    adds.push(add)
    finds.push(add + find)
  }
  return { adds, finds }
}

/** Runs in a child, so that no engine pays for the memory or the compiled code of another. */
function measureApart(name, count, what = '--one') {
  process.stderr.write(`  ${name}, ${count}${what === '--build' ? ', build' : ''}\n`)
  const args = ['--expose-gc', '--max-old-space-size=6000', self, what, name, String(count)]
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status !== 0) throw new Error(`${name} at ${count}: ${stderr.slice(-2000)}`)
  return stdout === '' ? undefined : JSON.parse(stdout)
}

/** The median of each time of the builds, by engine; those that are not there are left out. */
function measureBuilds() {
  const all = Object.fromEntries(Object.keys(engines).map((name) => [name, []]))
  for (let round = 0; round < builds; round++)
    for (const name of Object.keys(engines)) all[name].push(measureApart(name, reference, '--build'))
  const names = Object.keys(engines).filter((name) => all[name].every((one) => one !== undefined))
  const middle = (list, of) => median(list.map(of))
  return names.map((name) => {
    const list = all[name]
    return {
      name,
      strict: middle(list, (one) => one.build),
      records: middle(list, (one) => one.records),
      same: middle(list, (one) => one.build + one.records),
      loading: middle(list, (one) => one.loading),
      bare: middle(list, (one) => one.build + one.records - one.loading),
    }
  })
}

const number = (value) => value.toLocaleString('en')
const seconds = (value) => (value < 1000 ? `${value.toFixed(0)} ms` : `${(value / 1000).toFixed(1)} s`)
const mega = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`

function measureAll() {
  const results = []
  const missing = new Set()
  const tooSlow = new Set()
  for (const count of sizes) {
    for (const name of Object.keys(engines)) {
      if (missing.has(name) || tooSlow.has(name)) continue
      const result = measureApart(name, count)
      if (result === undefined) missing.add(name)
      else results.push(result)
      if (result?.tooSlow || (result && median(result.times) > most.queryMs)) tooSlow.add(name)
    }
  }
  return { results, missing }
}

function resultRow(result) {
  if (result.tooSlow) return [number(result.count), result.name, `over ${seconds(most.buildMs)}, given up`, '', '', '']
  const { name, count, build, times } = result
  const asked = times.length < most.queries ? `${times.length} (time was up)` : times.length
  return [number(count), name, seconds(build), ms(median(times)), ms(percentile(times, 0.95)), asked]
}

/** What was aimed for, and what came out. */
function goalRows(find) {
  const [ours, big] = [find('Tooldex hybrid', reference), find('Tooldex hybrid', 100_000)]
  const rows = []
  const judge = (goal, measured, met) => rows.push([goal, measured, met ? 'met' : 'missed'])
  const p50 = median(ours.times)
  judge('hybrid p50 at 14,000 under 1 ms', ms(p50), p50 < 1)
  const { remembered, times } = ours.learned
  rows.push([`the same with ${number(remembered)} past requests remembered`, ms(median(times)), 'reported'])
  const compare = (name, least) => {
    const peer = find(name, reference)
    if (peer?.times === undefined) return
    // Over the queries that both were asked.
    const ratio = median(peer.times) / median(ours.times.slice(0, peer.times.length))
    judge(`at 14,000 at least ${least}× faster than ${name}, p50`, `${ratio.toFixed(0)}×`, ratio >= least)
  }
  compare('MiniSearch 7', 50)
  compare('SQLite FTS5, porter', 10)
  for (const [count, one] of [
    ['14,000', ours],
    ['100,000', big],
  ]) {
    const [add, found] = [median(one.added.adds), median(one.added.finds)]
    judge(`one more tool at ${count} under 1 ms`, `${ms(add)}; with the search that finds it ${ms(found)}`, add < 1)
  }
  judge('hybrid p50 at 100,000 under 5 ms', ms(median(big.times)), median(big.times) < 5)
  const share = `${mega(big.rss)}, of which ${mega(big.emptyRss)} before the index was built (Node, the tools)`
  judge('resident memory at 100,000 under 600 MB', share, big.rss < 600e6)
  return rows
}

/** What each engine counts, and how much longer MiniSearch takes for the same. */
function buildTables(rows) {
  const [mini, ours] = [
    rows.find(({ name }) => name === 'MiniSearch 7'),
    rows.find(({ name }) => name === 'Tooldex hybrid'),
  ]
  const times = (mine, theirs) => (mini === undefined ? '' : `${(theirs / mine).toFixed(1)}×`)
  const table1 = table(
    [
      'engine',
      'records made',
      'index built',
      'of that, encoder loaded',
      'from tool definitions',
      'without the encoder',
    ],
    rows.map(({ name, records, strict, loading, same, bare }) => {
      const isPeer = !isOurs(name)
      return [name, isPeer ? ms(records) : 'none', ms(strict), loading > 0 ? ms(loading) : 'none', ms(same), ms(bare)]
    }),
  )
  if (mini === undefined) return table1
  const goal = (what, mine, theirs) => [what, times(mine, theirs), theirs / mine >= 5 ? 'met' : 'missed']
  const words = rows.find(({ name }) => name === 'Tooldex bm25')
  const table2 = table(
    ['built at least 5× faster than MiniSearch 7', 'measured', ''],
    [
      goal(
        'like for like: both from tool definitions, both an index of words (bm25), first search counted for us',
        words.same,
        mini.same,
      ),
      goal('both from tool definitions; ours with vectors (hybrid), encoder loaded before', ours.bare, mini.same),
      goal('both from tool definitions; ours with vectors (hybrid), loading the encoder counted', ours.same, mini.same),
      goal(
        'strict: MiniSearch gets flat records made beforehand; ours hybrid, everything counted',
        ours.strict,
        mini.strict,
      ),
    ],
  )
  return `${table2}\n\n${table1}`
}

export async function run() {
  if (sets().length === 0) return 'Not measured: TOOLDEX_BENCH_DATA names no folder of sets.'
  const built = measureBuilds()
  const { results, missing } = measureAll()
  const find = (name, count) => results.find((one) => one.name === name && one.count === count)
  const series = Object.keys(engines).map((name) => ({
    name,
    points: results.filter((one) => one.name === name && one.times).map((one) => [one.count, median(one.times)]),
  }))
  writeFileSync(
    new URL('search-speed.svg', import.meta.url),
    drawLines({
      title: 'Time of one search, median',
      x: 'tools in the catalog',
      y: 'milliseconds',
      series: series.filter(({ points }) => points.length > 0),
    }),
  )
  const { pooled } = find('Tooldex hybrid', sizes[0])
  const notes = [
    `${number(pooled)} tools of ${sets().length - 1} public sets, mixed; past that number they come again under other ids, so the words stay the same.`,
    `${most.queries} requests of these sets, the ten best each, after ${most.warmUp} to warm up. Each engine in a process of its own.`,
    'In the large table the build of Tooldex counts loading the encoder (hybrid), reading the schemas and the first search; the others get flat records made beforehand.',
    `Other engines are asked for ${most.askMs / 1000} s at most, and go no further than the size where a search takes over ${most.queryMs / 1000} s or a build over ${most.buildMs / 1000} s.`,
    ...(missing.size > 0 ? [`Not there in TOOLDEX_BENCH_PEERS, so not measured: ${[...missing].join(', ')}.`] : []),
  ]
  return [
    notes.join('\n'),
    table(['goal', 'measured', ''], goalRows(find)),
    `Building at ${number(reference)}, median of ${builds} fresh processes each, in turn. Flat records are what the others take: texts of parameters collected from the schemas.`,
    buildTables(built),
    'All sizes, one process each:',
    table(['tools', 'engine', 'build', 'p50', 'p95', 'queries'], results.map(resultRow)),
  ].join('\n\n')
}

const children = { '--one': measureOne, '--build': buildOne }
if (process.argv[1] === self && process.argv[2] in children) {
  const result = await children[process.argv[2]](process.argv[3], Number(process.argv[4]))
  if (result !== undefined) process.stdout.write(JSON.stringify(result))
}
