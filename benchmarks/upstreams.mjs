// Calls through a source beside calls of its server by the official client; many tools until they are found; starts with many sources.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base'
import { measureInTurn, startPeer } from './executors.mjs'
import { eventually, median, ms, percentile, table } from './measure.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const [main, floor, many] = ['../dist/app/main.js', 'floor-mcp.mjs', 'many-tools.mjs'].map(here)
const key = 'bench-key-0123456789abcdef'
const rounds = Number(process.env.TOOLDEX_BENCH_ROUNDS ?? 300)
const [manyTools, sourceCount, starts] = [5000, 30, 7]

export async function run() {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-bench-upstreams-'))
  const upstream = await startPeer('floor-mcp.mjs', 'http')
  try {
    const calls = await measureCalls(join(home, 'calls'), `http://127.0.0.1:${upstream.port}/mcp`)
    const found = await measureMany(join(home, 'many'))
    const started = await measureStarts(join(home, 'none'), join(home, 'thirty'))
    return [calls, found, started].join('\n\n')
  } finally {
    upstream.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

/** A server on the embedded database; the time is that from its start until it is ready. */
async function serve(home) {
  const began = performance.now()
  const env = { ...process.env, TOOLDEX_HOME: home, TOOLDEX_API_KEY: key, DATABASE_URL: '' }
  const child = spawn(process.execPath, [main, 'serve', '--port', '0'], { env, stdio: 'ignore' })
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
  const stop = () => {
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    return ended
  }
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

async function measureCalls(home, url) {
  const served = await serve(home)
  await addSource(served, 'program', { command: process.execPath, args: [floor] })
  await addSource(served, 'remote', { url, allowPrivate: true })
  const direct = {
    program: await open(new StdioClientTransport({ command: process.execPath, args: [floor] })),
    remote: await open(new StreamableHTTPClientTransport(new URL(url))),
  }
  const ours = await served.connect()
  const rows = []
  for (const [tool, title, times] of [
    ['add', 'answers at once', rounds],
    ['add_slowly', 'works for 50 ms', Math.ceil(rounds / 3)],
  ]) {
    for (const [source, transport] of [
      ['program', 'stdio'],
      ['remote', 'HTTP'],
    ]) {
      const input = { a: 2, b: 3 }
      const ways = {
        [`${transport}, ${title}: the official client`]: async () =>
          check((await direct[source].callTool({ name: tool, arguments: input })).structuredContent),
        [`${transport}, ${title}: through Tooldex, recorded`]: async () => {
          const call = { name: `${source}__${tool}`, arguments: input }
          check((await ours.callTool({ name: 'call_tool', arguments: call })).structuredContent.output)
        },
      }
      rows.push(...(await measureInTurn(ways, { rounds: times, warmUp: 50 })))
    }
  }
  await Promise.all([ours.close(), direct.program.close(), direct.remote.close()])
  await served.stop()
  const header = ['transport of the server, tool', 'p50', 'p95', 'times the direct call']
  return `Goal: at most 1.3 times, p50. The client reaches Tooldex over HTTP (\`/mcp\`), and Tooldex the server; every call through Tooldex is validated, under policy and recorded in the embedded database. One at a time, in turn.\n\n${table(header, rows)}`
}

function check(found) {
  if (found?.sum !== 5) throw new Error(`answered ${JSON.stringify(found)}`)
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
