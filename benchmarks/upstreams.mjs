// Calls through a source beside calls of its server by the official client; many tools until they are found; starts with many sources.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base'
import { measureInTurn, startPeer } from './executors.mjs'
import { eventually, median, ms, percentile, table } from './measure.mjs'
import { startPostgres } from './postgres.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const [main, floor, many] = ['../dist/app/main.js', 'floor-mcp.mjs', 'many-tools.mjs'].map(here)
const published = (name) => createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/dist/index.js`)
const key = 'bench-key-0123456789abcdef'
const rounds = Number(process.env.TOOLDEX_BENCH_ROUNDS ?? 300)
const [manyTools, sourceCount, starts] = [5000, 30, 7]

export async function run() {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-bench-upstreams-'))
  const upstream = await startPeer('floor-mcp.mjs', 'http')
  const postgres = await startPostgres()
  try {
    const calls = await measureCalls(home, `http://127.0.0.1:${upstream.port}/mcp`, postgres)
    const found = await measureMany(join(home, 'many'))
    const started = await measureStarts(join(home, 'none'), join(home, 'thirty'))
    return [calls, found, started].join('\n\n')
  } finally {
    await endAll()
    upstream.stop()
    await postgres.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

/** What a failure in between would leave running. */
const running = new Set()
const endAll = () => Promise.all([...running].map((stop) => stop()))

/** A server on the embedded database, or on PostgreSQL; the time is that from its start until it is ready. */
async function serve(home, database = '') {
  const began = performance.now()
  const env = { ...process.env, TOOLDEX_HOME: home, TOOLDEX_API_KEY: key, DATABASE_URL: database }
  const child = spawn(process.execPath, [main, 'serve', '--port', '0'], { env, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const stop = () => {
    running.delete(stop)
    child.kill('SIGTERM')
    return ended
  }
  running.add(stop)
  const readAddress = () => {
    const { url, pid } = JSON.parse(readFileSync(join(home, 'server.json'), 'utf8'))
    if (pid !== child.pid) throw new Error('the file is that of an earlier server')
    return url
  }
  const url = await eventually(async () => {
    const address = readAddress()
    if (!(await fetch(`${address}/readyz`)).ok) throw new Error('not ready')
    return address
  })
  const startMs = performance.now() - began
  const ask = async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return answer.json()
  }
  const connect = () =>
    open(
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${key}` } },
      }),
    )
  return { startMs, ask, connect, stop }
}

async function open(transport) {
  const client = new Client({ name: 'benchmark', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(transport)
  return client
}

async function addSource({ ask }, name, definition) {
  const { approval } = await ask('POST', '/sources', { name, ...definition })
  const began = performance.now()
  const source = await ask('POST', `/sources/${name}/approve`, { hash: approval.hash })
  if (source.state !== 'started') throw new Error(JSON.stringify(source.lastFailure))
  return performance.now() - began
}

/** A bare proxy in front of a URL or a program. */
async function connectProxy(...words) {
  process.env.PROXY_ENDS = '1'
  const { port, stop } = await startPeer('floor-proxy.mjs', ...words)
  running.add(stop)
  return open(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)))
}

const sumOf = ({ structuredContent }) => structuredContent?.sum === 5
const textOf = (word) => (result) => JSON.stringify(result.content).includes(word)

/** The servers: the tools of benchmarks over both transports, and two published ones. */
function serversOf(home, url) {
  const folder = join(realpathSync(home), 'files')
  mkdirSync(folder)
  const [file, graph] = [join(folder, 'notes.txt'), join(folder, 'graph.jsonl')]
  writeFileSync(file, 'A line of the notes.\n'.repeat(50))
  const entity = (index) => ({ type: 'entity', name: `entity ${index}`, entityType: 'note', observations: ['seen'] })
  writeFileSync(graph, Array.from({ length: 20 }, (_, index) => JSON.stringify(entity(index))).join('\n'))
  process.env.MEMORY_FILE_PATH = graph
  const input = { a: 2, b: 3 }
  const sums = [
    ['answers at once', 'add', rounds],
    ['works for 50 ms', 'add_slowly', Math.ceil(rounds / 8)],
  ].map(([title, tool, times]) => ({ title, tool, times, input, isRight: sumOf }))
  const times = Math.ceil(rounds / 2)
  const read = {
    title: 'read_text_file',
    tool: 'read_text_file',
    times,
    input: { path: file },
    isRight: textOf('notes'),
  }
  const all = { title: 'read_graph', tool: 'read_graph', times, input: {}, isRight: textOf('entity 19') }
  const node = process.execPath
  return [
    { name: 'program', title: 'stdio', words: [node, floor], calls: sums },
    { name: 'remote', title: 'HTTP', words: [url], calls: sums },
    { name: 'files', title: 'server-filesystem', words: [node, published('server-filesystem'), folder], calls: [read] },
    {
      name: 'memory',
      title: 'server-memory',
      words: [node, published('server-memory')],
      calls: [all],
      env: { MEMORY_FILE_PATH: graph },
    },
  ]
}

async function measureCalls(home, url, postgres) {
  const embedded = await serve(join(home, 'calls'))
  const stored = await serve(join(home, 'calls-postgres'), await postgres.createDatabase('calls'))
  const ours = [await embedded.connect(), await stored.connect()]
  const rows = []
  for (const { name, title, words, calls, env } of serversOf(home, url)) {
    const [first, ...args] = words
    const isUrl = args.length === 0
    const definition = isUrl ? { url: first, allowPrivate: true } : { command: first, args, ...(env && { env }) }
    for (const served of [embedded, stored]) await addSource(served, name, definition)
    const direct = await open(
      isUrl
        ? new StreamableHTTPClientTransport(new URL(first))
        : new StdioClientTransport({ command: first, args, env: process.env, stderr: 'ignore' }),
    )
    const proxy = await connectProxy(...words)
    for (const call of calls) rows.push(...(await measureCall(call, { name, title, direct, proxy, ours })))
    await Promise.all([direct.close(), proxy.close()])
  }
  await Promise.all(ours.map((client) => client.close()))
  await endAll()
  const header = ['server, tool: way', 'p50', 'p95', 'times the direct call', 'times the bare proxy']
  return `Goal: at most 1.3 times the direct call, p50. The client reaches the bare proxy and Tooldex over HTTP (\`/mcp\`), and these the server; every call through Tooldex is validated, under policy and recorded. One at a time, in turn.\n\n${table(header, rows)}`
}

async function measureCall({ title, tool, times, input, isRight }, { name, title: server, direct, proxy, ours }) {
  const check = (result) => {
    if (result.isError || !isRight(result)) throw new Error(`${name} answered ${JSON.stringify(result).slice(0, 500)}`)
  }
  const bare = (client) => async () => check(await client.callTool({ name: tool, arguments: input }))
  const through = (client) => async () => {
    const result = await client.callTool({
      name: 'call_tool',
      arguments: { name: `${name}__${tool}`, arguments: input },
    })
    check({ ...result, structuredContent: result.structuredContent?.output })
  }
  const ways = {
    'the official client': bare(direct),
    'through the bare proxy': bare(proxy),
    'through Tooldex, embedded database': through(ours[0]),
    'through Tooldex, PostgreSQL': through(ours[1]),
  }
  const measured = await measureInTurn(ways, { rounds: times, warmUp: Math.min(50, times) })
  const [, [, , , ofProxy]] = measured
  return measured.map(([way, p50, p95, ratio]) => [
    `${server}, ${title}: ${way}`,
    p50,
    p95,
    ratio,
    (Number(ratio) / Number(ofProxy)).toFixed(2),
  ])
}

async function measureMany(home) {
  const query = { query: 'restore the deployment of region 31', limit: 5 }
  const isFound = async ({ ask }) => {
    const { results } = await ask('POST', '/search', query)
    if (!results.some(({ name }) => name === 'many__restore_deployment_31')) throw new Error('not found')
  }
  const served = await serve(home)
  const read = await addSource(served, 'many', { command: process.execPath, args: [many, String(manyTools)] })
  const began = performance.now()
  await eventually(() => isFound(served))
  const first = performance.now() - began
  const again = []
  for (let count = 0; count < 20; count++) {
    const started = performance.now()
    await isFound(served)
    again.push(performance.now() - started)
  }
  await served.stop()
  const restarted = await serve(home)
  const restartedAt = performance.now()
  await eventually(() => isFound(restarted))
  const afterStart = performance.now() - restartedAt
  await restarted.stop()
  const tools = manyTools.toLocaleString('en')
  return table(
    [`${tools} tools of one server`, 'time'],
    [
      ['approved, until read, scanned, stored and in the catalog (with the start of the server)', ms(read)],
      ['from then until the first search finds one of them', ms(first)],
      ['a later search, p50', ms(median(again))],
      ['restarted: ready, with the stored manifest', ms(restarted.startMs)],
      ['from then until the first search finds one of them', ms(afterStart)],
    ],
  )
}

/** Starts with and without sources in turn, and what a client reads at rest. */
async function measureStarts(none, thirty) {
  const first = await serve(thirty)
  for (let index = 0; index < sourceCount; index++)
    await addSource(first, `source${index}`, { command: process.execPath, args: [many, '20'] })
  await first.stop()
  await (await serve(none)).stop()
  const times = { none: [], thirty: [] }
  const tokens = {}
  for (let round = 0; round < starts; round++) {
    for (const [name, home] of Object.entries({ none, thirty })) {
      const served = await serve(home)
      times[name].push(served.startMs)
      const client = await served.connect()
      const { tools } = await client.listTools()
      tokens[name] = countTokens(JSON.stringify(tools))
      await client.close()
      await served.stop()
    }
  }
  const row = (title, name) => [title, ms(median(times[name])), ms(percentile(times[name], 0.95)), tokens[name]]
  const rows = [row('without sources', 'none'), row(`${sourceCount} sources with 20 tools each`, 'thirty')]
  return `Goal: under a second more with ${sourceCount} sources, and no more tokens at rest; no server is started. ${starts} starts each, in turn, from the start of the process until \`/readyz\`.\n\n${table(['', 'start, p50', 'p95', 'tokens of `tools/list`'], rows)}`
}
