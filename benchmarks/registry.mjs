// Reading and writing the registry over HTTP, beside a bare hono server with one SELECT on the same PostgreSQL.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import postgres from 'postgres'
import { eventually, ms, percentile, table } from './measure.mjs'
import { startPostgres } from './postgres.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const key = 'bench-key-0123456789abcdef'
const seconds = 6
const connections = 16
const many = 100_000

/** A tool like any other. */
const tool = (index) => ({
  name: `tool_${index}`,
  displayName: `Tool ${index}`,
  description: `Does ${words[index % words.length]} for ${words[(index * 7) % words.length]} number ${index}`,
  tags: [words[index % words.length]],
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string', description: 'What to look for' }, limit: { type: 'integer' } },
    required: ['query'],
  },
  executorType: 'http',
  executorConfig: { method: 'GET', url: 'https://example.org/{query}' },
})
const words = [
  'invoices',
  'reports',
  'branches',
  'containers',
  'weather',
  'tickets',
  'backups',
  'deployments',
  'users',
  'logs',
]

export async function run() {
  const server = await startPostgres()
  const url = await server.createDatabase('bench')
  const children = []
  try {
    const ours = await startTooldex(url, join(server.folder, 'home'), children)
    const floor = await startFloor(url, children)
    const imported = await measureImport(ours, url)
    const reads = await measureReads(ours, floor)
    const large = await measureLarge(ours, url)
    return [reads, imported, large].join('\n\n')
  } finally {
    for (const child of children) child.kill('SIGTERM')
    await server.stop()
  }
}

async function startTooldex(url, home, children) {
  const env = { ...process.env, DATABASE_URL: url, TOOLDEX_HOME: home, TOOLDEX_API_KEY: key }
  const child = spawn(process.execPath, [here('../dist/app/main.js'), 'serve', 'git', '--port', '0'], {
    env,
    stdio: 'ignore',
  })
  children.push(child)
  return eventually(() => JSON.parse(readFileSync(join(home, 'server.json'), 'utf8')).url)
}

async function startFloor(url, children) {
  const child = spawn(process.execPath, [here('floor-http.mjs')], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  children.push(child)
  return new Promise((resolve) => child.stdout.once('data', (data) => resolve(String(data).trim())))
}

const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

async function ask(url, path, init = {}) {
  const response = await fetch(`${url}/api/v1${path}`, { headers, ...init })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

/** Ten thousand tools by one import, beside the same rows by plain inserts of a thousand each, versions and all. */
async function measureImport(ours, url) {
  const count = 10_000
  const tools = Array.from({ length: count }, (_, index) => ({ ...tool(index), status: 'ACTIVE' }))
  const started = performance.now()
  for (let start = 0; start < count; start += 2000) {
    const bundle = { tooldex: 1, tools: tools.slice(start, start + 2000) }
    await ask(ours, '/bundle', { method: 'POST', body: JSON.stringify({ bundle }) })
  }
  const byImport = performance.now() - started
  const sql = postgres(url, { onnotice: () => {} })
  await sql`create table plain_tools (like tools including all)`
  await sql`create table plain_versions (like tool_versions including all)`
  const plain = performance.now()
  await sql.begin(async (inner) => {
    for (let start = 0; start < count; start += 1000) {
      await inner.unsafe(`insert into plain_tools select * from tools order by name offset ${start} limit 1000`)
      await inner.unsafe(
        `insert into plain_versions select * from tool_versions order by name offset ${start} limit 1000`,
      )
    }
  })
  const byInserts = performance.now() - plain
  await sql`drop table plain_tools, plain_versions`
  await sql.end()
  return table(
    ['10,000 tools', 'time', 'per tool', 'against plain inserts'],
    [
      [
        'imported as bundles: checked, versioned, recorded',
        `${(byImport / 1000).toFixed(1)} s`,
        ms(byImport / count),
        `${(byImport / byInserts).toFixed(1)}×`,
      ],
      [
        'plain INSERT ... SELECT of the same rows and versions, a thousand at a time',
        `${(byInserts / 1000).toFixed(1)} s`,
        ms(byInserts / count),
        '1',
      ],
    ],
  )
}

/** The same for each of a thousand tools. */
const thousand = (url) =>
  Array.from({ length: 1000 }, (_, n) => ({ path: new URL(url).pathname.replace('%7Bn%7D', String(n)) }))

async function measureReads(ours, floor) {
  const pairs = {
    'get one tool, a thousand in turn': [`${ours}/api/v1/tools/tool_{n}`, `${floor}/one/tool_{n}`],
    'get one tool, all the same': [`${ours}/api/v1/tools/tool_42`, `${floor}/one/tool_42`],
    'list 20': [`${ours}/api/v1/tools?limit=20`, `${floor}/list`],
    search: [`${ours}/api/v1/search?query=backups+for+users&level=summary`, `${floor}/search?q=backups`],
  }
  const rows = []
  for (const [name, [mine, least]] of Object.entries(pairs)) {
    const results = {}
    for (const [who, url] of [
      ['floor', least],
      ['ours', mine],
      ['floor', least],
      ['ours', mine],
    ]) {
      const requests = url.includes('{n}') ? thousand(url) : undefined
      const result = await autocannon({
        url: url.replace('{n}', '1'),
        requests,
        connections,
        duration: seconds / 2,
        headers,
      })
      if (result.non2xx > 0 || result.errors > 0)
        throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} failed`)
      const known = results[who]
      results[who] = {
        perSecond: Math.max(known?.perSecond ?? 0, result.requests.average),
        p99: Math.min(known?.p99 ?? Infinity, result.latency.p99),
      }
    }
    const { floor: f, ours: o } = results
    rows.push([
      name,
      `${Math.round(f.perSecond)}/s`,
      `${Math.round(o.perSecond)}/s`,
      `${(o.perSecond / f.perSecond).toFixed(2)} (at least 0.5)`,
      ms(f.p99),
      ms(o.p99),
      `${(o.p99 / f.p99).toFixed(1)} (at most 3)`,
    ])
  }
  return `${connections} connections, the better of two runs of ${seconds / 2} s each, in turn, 10,000 tools; the floor is hono and \`postgres\` with one SELECT, without keys, checks or headers. Its search is ILIKE, ours ranks by words and meaning.\n\n${table(['', 'floor', 'Tooldex', 'share', 'floor p99', 'Tooldex p99', 'ratio'], rows)}`
}

async function measureLarge(ours, url) {
  const sql = postgres(url, { onnotice: () => {} })
  await sql.unsafe(`insert into tools (name, display_name, description, status, tags, input_schema, executor_type, executor_config)
    select 'many_' || n, 'Many ' || n, 'Does ' || (array['invoices','reports','branches','containers','weather'])[1 + n % 5] || ' number ' || n, 'ACTIVE',
      jsonb_build_array('many'), '{"type":"object","properties":{"query":{"type":"string"}}}', 'http', '{"method":"GET","url":"https://example.org/"}'
    from generate_series(1, ${many - 10_000}) n`)
  await sql`analyze tools`
  const noticed = performance.now()
  await sql`update workspaces set changes = changes + 1`
  await sql`select pg_notify('tooldex_changes', 'default')`
  await sql.end()
  await eventually(async () => {
    const { results = [] } = await ask(ours, '/search', {
      method: 'POST',
      body: JSON.stringify({ query: `many_${many - 10_000}` }),
    })
    if (results[0]?.name !== `many_${many - 10_000}`) throw new Error('not yet')
    return true
  }, 120_000)
  const taken = performance.now() - noticed
  const paths = {
    'list 20, newest first': '/tools?limit=20',
    'list 20 by name, with a text': '/tools?limit=20&sort=name&search=weather%20number%2077',
    'list 20 of a tag': '/tools?limit=20&tag=backups',
    search: '/search?query=weather+for+number+4711&level=summary',
  }
  const rows = []
  for (const [name, path] of Object.entries(paths)) {
    const times = []
    for (let round = 0; round < 120; round++) {
      const started = performance.now()
      await ask(ours, path)
      if (round >= 20) times.push(performance.now() - started)
    }
    rows.push([name, ms(percentile(times, 0.5)), ms(percentile(times, 0.95))])
  }
  return `With ${many.toLocaleString('en')} tools, one request at a time (the catalog loaded 90,000 new tools in ${(taken / 1000).toFixed(1)} s):\n\n${table(['', 'p50', 'p95'], rows)}`
}
