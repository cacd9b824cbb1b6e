// The MCP endpoint of a server beside a bare proxy on the same packages, in front of the same upstream server.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { startPeer } from './executors.mjs'
import { eventually, ms, percentile, table } from './measure.mjs'
import { startPostgres } from './postgres.mjs'

const main = fileURLToPath(new URL('../dist/app/main.js', import.meta.url))
const proxy = fileURLToPath(new URL('floor-proxy.mjs', import.meta.url))
const key = 'bench-key-0123456789abcdef'
const rounds = Number(process.env.TOOLDEX_BENCH_ROUNDS ?? 500)
const [busyClients, manyClients, callsEach] = [50, 200, 5]
const input = { a: 2, b: 3 }

export async function run() {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-bench-gateway-'))
  const upstream = await startPeer('floor-mcp.mjs', 'http')
  const url = `http://127.0.0.1:${upstream.port}/mcp`
  const postgres = await startPostgres()
  try {
    const floor = await startProxy(url)
    const served = await startTooldex(home, url, await postgres.createDatabase('gateway'))
    const alone = await measureAlone(floor, served)
    const busy = await measureBusy(floor, served)
    const many = await measureMany(served)
    await Promise.all([floor.stop(), served.stop()])
    const idle = await measureIdle(join(home, 'idle'))
    return [alone, busy, many, idle].join('\n\n')
  } finally {
    upstream.stop()
    await postgres.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

/** The CPU time of a process with all its threads, in milliseconds; its user and system ticks are 10 ms each. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const residentMb = (pid) =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024)

const childrenOf = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)

async function startProxy(url) {
  const child = spawn(process.execPath, [proxy, url], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await new Promise((resolve) => child.stdout.once('data', (text) => resolve(Number(text))))
  return partsOf(child, `http://127.0.0.1:${port}/mcp`, {})
}

async function startTooldex(home, url, database) {
  const servers = join(home, 'servers.json')
  writeFileSync(servers, JSON.stringify({ mcpServers: { floor: { url, allowPrivate: true } } }))
  const env = { ...process.env, TOOLDEX_HOME: home, TOOLDEX_API_KEY: key, TOOLDEX_MCP_SERVERS: servers }
  if (database !== undefined) env.DATABASE_URL = database
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--bundled'], { env, stdio: 'ignore' })
  const where = await eventually(() => JSON.parse(readFileSync(join(home, 'server.json'), 'utf8')).url)
  const ask = async (path, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${where}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  }
  // The same tool twice: as what it is, and as if it changed something, so that its record is on disk before it runs.
  for (const [name, annotations] of [
    ['add', { readOnlyHint: true }],
    ['add_with_effect', {}],
  ]) {
    const number = { type: 'number' }
    await ask('/tools', {
      name,
      displayName: 'Add',
      description: 'Adds two numbers.',
      executorType: 'mcp',
      executorConfig: { server: 'floor', tool: 'add' },
      inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
      annotations,
    })
    await ask(`/tools/${name}/activate`, {})
  }
  return partsOf(child, `${where}/mcp`, { authorization: `Bearer ${key}` })
}

function partsOf(child, url, headers) {
  const connect = async () => {
    const client = new Client({ name: 'benchmark', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
    return client
  }
  const stop = () => {
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    return ended
  }
  return { pid: child.pid, connect, stop }
}

const add = async (client) => check((await client.callTool({ name: 'add', arguments: input })).structuredContent)
const callNamed = async (client, name) => {
  const { structuredContent } = await client.callTool({ name: 'call_tool', arguments: { name, arguments: input } })
  check(structuredContent.output)
}
const callAdd = (client) => callNamed(client, 'add')
const callWithEffect = (client) => callNamed(client, 'add_with_effect')
const search = async (client) => {
  const { structuredContent } = await client.callTool({ name: 'search_tools', arguments: { query: 'add two numbers' } })
  if (structuredContent.results.length === 0) throw new Error('nothing found')
}
function check(found) {
  if (found?.sum !== 5) throw new Error(`answered ${JSON.stringify(found)}`)
}

/** One call at a time, in turn, and the CPU time of each server. */
async function measureAlone(floor, served) {
  const [bare, ours] = await Promise.all([floor.connect(), served.connect()])
  const ways = {
    'bare proxy: a call': { call: () => add(bare), pid: floor.pid },
    '`search_tools`': { call: () => search(ours), pid: served.pid },
    '`call_tool`, recorded, of a read-only tool': { call: () => callAdd(ours), pid: served.pid },
    '`call_tool`, recorded, of a tool with effects': { call: () => callWithEffect(ours), pid: served.pid },
  }
  const seen = Object.fromEntries(Object.keys(ways).map((name) => [name, { times: [], cpu: 0 }]))
  const batch = 25
  for (let round = -batch * 4; round < rounds; round += batch) {
    for (const [name, { call, pid }] of Object.entries(ways)) {
      const before = cpuOf(pid)
      for (let count = 0; count < batch; count++) {
        const started = performance.now()
        await call()
        if (round >= 0) seen[name].times.push(performance.now() - started)
      }
      if (round >= 0) seen[name].cpu += cpuOf(pid) - before
    }
  }
  await Promise.all([bare.close(), ours.close()])
  const [first] = Object.values(seen)
  const rows = Object.entries(seen).map(([name, { times, cpu }]) => {
    const p50 = percentile(times, 0.5)
    const each = cpu / times.length
    const ratio = (value, base) => (value / base).toFixed(2)
    const [p50Ratio, cpuRatio] = [ratio(p50, percentile(first.times, 0.5)), ratio(each, first.cpu / first.times.length)]
    return [name, ms(p50), ms(percentile(times, 0.99)), p50Ratio, ms(each), cpuRatio]
  })
  const header = ['', 'p50', 'p99', 'times the proxy', 'CPU per call', 'times the proxy']
  return `Goals: search at most 1.5 times, a recorded call at most 2 times the p50; CPU at most 3 times. ${rounds} of each on PostgreSQL, one at a time, in turn.\n\n${table(header, rows)}`
}

/** Calls per second with many clients at once. */
async function callsPerSecond({ connect }, clients, call) {
  const connected = await Promise.all(Array.from({ length: clients }, connect))
  const started = performance.now()
  await Promise.all(
    connected.map(async (client) => {
      for (let count = 0; count < callsEach; count++) await call(client)
    }),
  )
  const perSecond = (clients * callsEach * 1000) / (performance.now() - started)
  await Promise.all(connected.map((client) => client.close()))
  return perSecond
}

async function measureBusy(floor, served) {
  const best = { bare: 0, ours: 0, effect: 0, search: 0 }
  for (let round = 0; round < 4; round++) {
    best.bare = Math.max(best.bare, await callsPerSecond(floor, busyClients, add))
    best.ours = Math.max(best.ours, await callsPerSecond(served, busyClients, callAdd))
    best.effect = Math.max(best.effect, await callsPerSecond(served, busyClients, callWithEffect))
    best.search = Math.max(best.search, await callsPerSecond(served, busyClients, search))
  }
  const share = (value) => (value / best.bare).toFixed(2)
  const rows = [
    ['bare proxy', `${Math.round(best.bare)}/s`, '1.00'],
    ['`search_tools`', `${Math.round(best.search)}/s`, share(best.search)],
    ['`call_tool`, recorded, of a read-only tool', `${Math.round(best.ours)}/s`, share(best.ours)],
    ['`call_tool`, recorded, of a tool with effects', `${Math.round(best.effect)}/s`, share(best.effect)],
  ]
  return `Calls per second with ${busyClients} clients at once, the best of four rounds, in turn. Goal: at least 0.6.\n\n${table(['', 'calls', 'share of the proxy'], rows)}`
}

/** Every client sends its own numbers and must get its own sum. */
async function measureMany(served) {
  let mixed = 0
  let failed = 0
  const clients = await Promise.all(Array.from({ length: manyClients }, served.connect))
  await Promise.all(
    clients.map(async (client, index) => {
      const { isError, structuredContent } = await client.callTool({
        name: 'call_tool',
        arguments: { name: 'add', arguments: { a: index, b: 1000 } },
      })
      if (isError) failed++
      else if (structuredContent.output.sum !== index + 1000) mixed++
    }),
  )
  await Promise.all(clients.map((client) => client.close()))
  return `${manyClients} clients at once, each with its own numbers: ${failed} errors, ${mixed} results of another client.`
}

/** Resident memory of a server on the embedded database that has nothing to do. */
async function measureIdle(home) {
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--examples', '--bundled'], {
    env: { ...process.env, TOOLDEX_HOME: home, TOOLDEX_API_KEY: key, DATABASE_URL: '' },
    stdio: 'ignore',
  })
  await eventually(() => readFileSync(join(home, 'server.json')))
  await new Promise((resolve) => setTimeout(resolve, 20_000))
  const server = residentMb(child.pid)
  const launcher = childrenOf(child.pid).reduce((sum, pid) => sum + residentMb(pid), 0)
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  await ended
  return `Resident memory of an idle server on the embedded database, 20 s after its first start: ${server} MB (goal: 250); the process that starts its tools: ${launcher} MB.`
}
