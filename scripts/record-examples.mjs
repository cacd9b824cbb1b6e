// Records the examples of the OpenAPI document: one story of requests to a running server, with the same ids and times each time.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { operations } from '../dist/operations/index.js'

const routes = new Map(operations.filter(({ http }) => http !== undefined).map((each) => [each.name, each.http]))
const upstreamName = 'http://weather.example'

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const toolAt = (url, change = {}) => ({
  name: 'weather_now',
  displayName: 'Weather now',
  description: 'Returns the current weather of a city.',
  tags: ['weather'],
  inputSchema: city,
  executorType: 'http',
  executorConfig: { method: 'GET', url: `${url}/{city}`, allowPrivate: true },
  annotations: { readOnlyHint: true },
  ...change,
})

/** Records the examples from a server with a database of its own. */
export async function recordFromServer() {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-examples-'))
  const key = 'a-key-for-examples-only'
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('../dist/app/main.js', import.meta.url)), 'serve', '--port', '0'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, DATABASE_URL: '', TOOLDEX_HOME: home, TOOLDEX_API_KEY: key, TOOLDEX_LEARNING: 'on' },
    },
  )
  const ended = new Promise((resolve) => child.once('close', resolve))
  try {
    const url = await urlOf(child)
    return await recordExamples(async (method, path, { body } = {}) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const response = await fetch(`${url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) })
      const text = await response.text()
      return { status: response.status, text, body: JSON.parse(text) }
    })
  } finally {
    child.kill()
    await ended
    rmSync(home, { recursive: true, force: true })
  }
}

function urlOf(child) {
  let log = ''
  return new Promise((resolve, reject) => {
    child.once('close', () => reject(new Error(`the server ended: ${log}`)))
    child.stderr.setEncoding('utf8').on('data', (text) => {
      log += text
      const [, url] = /serves .* at (http:\S+)/.exec(log) ?? []
      if (url !== undefined) resolve(url)
    })
  })
}

/** Requests every operation of a fresh server and returns the bodies and the answers, by name and status. */
export async function recordExamples(request) {
  const weather = await startWeather()
  const recorder = createRecorder(request)
  try {
    await tellStory(recorder, weather.url)
  } finally {
    await weather.close()
  }
  const { bodies, answers, problem } = recorder.recorded
  return JSON.parse(JSON.stringify(normalize({ bodies, answers, problem }, weather.url)))
}

function createRecorder(request) {
  const recorded = { bodies: {}, answers: {}, problem: undefined }
  const send = async (name, { at = {}, query = '', body } = {}) => {
    const { method, path } = routes.get(name)
    const address = path.replaceAll(/\{(\w+)\}/g, (_, field) => encodeURIComponent(at[field])) + query
    return request(method.toUpperCase(), address, body === undefined ? {} : { body })
  }
  /** Sends a request and records it; the first request of an operation is its example. */
  const ask = async (name, options = {}) => {
    let answer = await send(name, options)
    // The catalog of a server follows the database.
    for (let turn = 0; turn < 600 && options.until?.(answer.body) === false; turn++) {
      await sleep(100)
      answer = await send(name, options)
    }
    if (answer.status >= 300) throw new Error(`${name}: ${answer.status} ${answer.text}`)
    if (options.body !== undefined) recorded.bodies[name] ??= options.body
    recorded.answers[name] = { [answer.status]: answer.body, ...recorded.answers[name] }
    return answer.body
  }
  const fail = async (name, options) => {
    recorded.problem = (await send(name, options)).body
  }
  return { ask, fail, recorded }
}

/** The life of one tool, and of everything around it. */
async function tellStory({ ask, fail }, url) {
  await manageAccess(ask)
  await writeTool({ ask, fail }, url)
  await useToolset(ask)
  await findTool(ask)
  await runTool(ask)
  await proposeChanges(ask)
  await approveRuns(ask, url)
  await useSources(ask, url)
  await readState(ask, url)
  await removeAll(ask)
}

const tool = { at: { idOrName: 'weather_now' } }
const category = { at: { idOrName: 'Weather' } }
const policy = { at: { name: 'weather' } }
const secret = { at: { name: 'WEATHER_TOKEN' } }

async function manageAccess(ask) {
  const expiresAt = '2030-01-01T00:00:00.000Z'
  await ask('keys.create', { body: { name: 'dashboard', scopes: ['read'], expiresAt } })
  for (const name of ['keys.list', 'keys.current']) await ask(name)
  await ask('keys.revoke', { at: { idOrName: 'dashboard' } })
  await ask('secrets.put', { ...secret, body: { value: 'the-token-of-the-service' } })
  await ask('secrets.list')
  const tools = { weather_now: { args: { city: { pattern: '[A-Z][a-z]+' } } } }
  await ask('policies.put', { ...policy, body: { default: 'enabled', tools } })
  await ask('policies.list')
  await ask('policies.get', policy)
}

/** A toolset with the new tool, once it is in the catalog. */
async function useToolset(ask) {
  const toolset = { at: { name: 'weather' } }
  const body = { description: 'Weather only', filter: { tags: ['weather'] } }
  await ask('toolsets.put', { ...toolset, body, until: ({ warnings }) => warnings === undefined })
  for (const name of ['toolsets.list', 'toolsets.get', 'toolsets.tools']) await ask(name, toolset)
  const limit = { at: { name: 'agents' } }
  await ask('limits.put', {
    ...limit,
    body: { caller: '*', tool: 'weather_now', callsPerMinute: 600, tokensPerDay: 1_000_000 },
  })
  for (const name of ['limits.list', 'limits.get']) await ask(name, limit)
}

async function writeTool({ ask, fail }, url) {
  await ask('categories.create', { body: { name: 'Weather', description: 'Weather and forecasts.' } })
  for (const name of ['categories.list', 'categories.tree']) await ask(name)
  await ask('categories.get', category)
  const draft = toolAt(url)
  await fail('registry.create', { body: { ...draft, name: 'Weather Now', inputSchema: { type: 'object' } } })
  await ask('registry.validateDraft', { body: draft })
  await ask('registry.create', { body: { ...draft, changelog: 'first version' } })
  await ask('registry.validate', tool)
  const description = 'Returns the weather of a city now and in the next hour.'
  await ask('registry.change', { ...tool, body: { description, changelog: 'add the next hour' } })
  for (const name of ['activate', 'get']) await ask(`registry.${name}`, tool)
  await ask('registry.list')
  await ask('versions.list', tool)
  await ask('versions.get', { at: { ...tool.at, version: 1 } })
  await ask('versions.diff', { ...tool, query: '?from=1&to=2' })
  await ask('versions.diffChange', { ...tool, body: { description: 'Returns the weather of a city in an hour.' } })
}

async function findTool(ask) {
  const until = ({ results }) => results.length > 0
  await ask('tools.search', { body: { query: 'weather of a city', limit: 5 }, until })
  await ask('tools.searchByAddress', { query: '?query=weather+of+a+city', until })
  await ask('tools.describe', { body: { ids: ['weather_now'], level: 'schema' } })
  await ask('tools.doc', tool)
  await ask('llm.list')
  await ask('llm.get', { at: { name: 'weather_now' } })
}

async function runTool(ask) {
  const { id } = await ask('tools.execute', { ...tool, body: { input: { city: 'Oslo' }, wait: true } })
  await ask('executions.get', { at: { id } })
  await ask('executions.list', { query: '?limit=1' })
  await ask('executions.statistics', { query: '?hours=2' })
  await ask('registry.executions', { ...tool, query: '?limit=1' })
  await ask('llm.invoke', { at: { name: 'weather_now' }, body: { arguments: { city: 'Oslo' } } })
  const { result } = await ask('tools.execute', { ...tool, body: { input: { city: 'Hours' }, wait: true } })
  await ask('results.read', { at: result, query: '?path=$[*]&limit=1' })
  await ask('results.content', { at: result })
}

async function proposeChanges(ask) {
  const propose = (tags) =>
    ask('proposals.create', { ...tool, body: { change: { tags }, reason: 'found more easily' } })
  await ask('proposals.refuse', { at: await propose(['rain']), body: { note: 'not yet' } })
  const at = await propose(['weather', 'forecast'])
  await ask('proposals.list', { ...tool, query: '?limit=1' })
  await ask('proposals.replay', { at, body: { limit: 1 } })
  await ask('proposals.get', { at })
  await ask('proposals.accept', { at, body: { note: 'agreed' } })
  await ask('versions.rollback', { ...tool, body: { version: 1, changelog: 'the next hour was wrong' } })
}

async function approveRuns(ask, url) {
  const draft = toolAt(url, {
    name: 'weather_alert',
    displayName: 'Weather alert',
    description: 'Warns the people of a city of a storm.',
    annotations: { requiresApproval: true },
  })
  const alert = { at: { idOrName: 'weather_alert' } }
  await ask('registry.create', { body: { ...draft, changelog: 'first version' } })
  await ask('registry.activate', alert)
  const wait = async () => ({ at: await ask('tools.execute', { ...alert, body: { input: { city: 'Oslo' } } }) })
  await ask('executions.cancel', await wait())
  await ask('executions.refuse', { ...(await wait()), body: { note: 'not on a Friday' } })
  const last = await wait()
  await ask('queue.read')
  await ask('executions.approve', { ...last, body: { note: 'agreed with the team' } })
}

/** An MCP server as a source, one of whose definitions changes twice. */
async function useSources(ask, url) {
  const source = { at: { name: 'forecasts' } }
  const { approval } = await ask('sources.add', { body: { name: 'forecasts', url: `${url}/mcp`, allowPrivate: true } })
  await ask('sources.approve', { ...source, body: { hash: approval.hash } })
  for (const decision of ['accept', 'refuse']) {
    await ask('sources.refresh', source)
    await ask('sources.get', source)
    await ask(`sources.${decision}`, { ...source, body: { items: ['tools/forecast'] } })
  }
  await ask('sources.change', { ...source, body: { trust: 'pinned' } })
  for (const name of ['signIn', 'signInState', 'signOut']) await ask(`sources.${name}`, source)
}

async function readState(ask, url) {
  await ask('catalog.eval', {
    body: { queries: [{ query: 'will it rain', relevant: ['weather_now'] }], mode: 'hybrid' },
  })
  for (const name of ['sources', 'lint', 'stats']) await ask(`catalog.${name}`)
  await ask('upstreams.list', { at: { kind: 'prompts' } })
  const params = {
    ref: { type: 'ref/resource', uri: 'tooldex://tools/{id}' },
    argument: { name: 'id', value: 'weather_n' },
  }
  await ask('upstreams.request', { body: { method: 'completion/complete', params } })
  await ask('bundle.export')
  const tools = [toolAt(url, { description: 'Returns the weather of a city.' })]
  await ask('bundle.import', { body: { bundle: { tooldex: 1, tools }, dryRun: true } })
  await ask('tags.list')
  await ask('tags.rename', { body: { from: 'weather', to: 'forecast' } })
}

async function removeAll(ask) {
  for (const name of ['deprecate', 'undeprecate', 'deactivate', 'reactivate', 'delete'])
    await ask(`registry.${name}`, tool)
  await ask('categories.change', { ...category, body: { name: 'Weather and climate' } })
  await ask('categories.delete', { at: { idOrName: 'Weather and climate' } })
  const simulated = { default: 'enabled', tools: { weather_now: { requireApproval: true } } }
  await ask('policies.simulate', { body: { policy: simulated, days: 30, limit: 1 } })
  await ask('policies.delete', policy)
  await ask('sources.remove', { at: { name: 'forecasts' } })
  await ask('toolsets.delete', { at: { name: 'weather' } })
  await ask('limits.delete', { at: { name: 'agents' } })
  await ask('secrets.remove', secret)
  for (const name of ['learning.show', 'learning.forget']) await ask(name)
  await ask('audit.list', { query: '?limit=1' })
  await ask('audit.verify')
}

/** The service behind the example tools. */
async function startWeather() {
  const hours = Array.from({ length: 4000 }, (_, hour) => ({ hour: `${hour % 24}:00`, sky: 'snow' }))
  const answerMcp = forecastServer()
  const server = createServer(async (incoming, response) => {
    if (incoming.url === '/mcp') return answerMcp(incoming, response)
    const answer = incoming.url === '/Hours' ? hours : { now: 'snow', degrees: -3, nextHour: 'snow' }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections())
  return { url: `http://127.0.0.1:${server.address().port}`, close }
}

/** An MCP server with one tool, whose description is another one each time it is listed. */
function forecastServer() {
  let listed = 0
  const results = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'forecasts', version: '1.0.0' },
      instructions: 'Forecasts for the next ten days.',
    }),
    'tools/list': () => {
      const days = ['tomorrow', 'the next three days', 'the next ten days'][Math.min(listed++, 2)]
      return { tools: [{ name: 'forecast', description: `Returns the weather of ${days}.`, inputSchema: city }] }
    },
  }
  return async (incoming, response) => {
    const chunks = await incoming.toArray()
    const { id, method, params = {} } = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString())
    if (id === undefined) return response.writeHead(incoming.method === 'POST' ? 202 : 405).end()
    const error = { code: -32601, message: 'unknown method' }
    const answer = results[method] === undefined ? { error } : { result: results[method](params) }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  }
}

const exampleTimes = {
  startedAt: '2026-03-02T09:15:00.300Z',
  completedAt: '2026-03-02T09:15:00.712Z',
  expiresAt: '2026-03-03T09:15:00.000Z',
}

/** Values that differ between two recordings, by field. */
const exampleValues = {
  durationMs: 412,
  p50Ms: 0.412,
  p95Ms: 0.412,
  bytes: 8_872_059,
  slots: 16,
  worker: 'host:4711:5f0c2b9e',
  prefix: 'tdx_4hQw',
  sequence: 38,
  rows: 38,
  hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  secret: 'tdx_4hQw-an-example-that-opens-nothing',
  revision: 'fN3vQ0aL2c',
  reading: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  nextCursor: 'WzQsIiJd',
}

/** Replaces ids, times and measured values; the same id stays the same everywhere. */
function normalize(recorded, url) {
  const ids = new Map()
  const idFor = (id) => {
    if (!ids.has(id)) ids.set(id, `3f6c1f0e-5f0a-4a6b-9d55-${String(ids.size + 1).padStart(12, '0')}`)
    return ids.get(id)
  }
  const text = JSON.stringify(recorded)
    .replaceAll(url, upstreamName)
    .replaceAll(new URL(url).host, new URL(upstreamName).host)
    .replaceAll(/\(\d+ ms\)/g, '(412 ms)')
    .replaceAll(/http:[^"]*(\/oauth\/sign-in\?ticket=)[\w-]+/g, 'https://tools.example$1Zm9yZWNhc3Rz')
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, idFor)
  return JSON.parse(text, (key, value) => {
    if (key === 'allowPrivate') return false
    if (key === 'content' && value.length > 300) return JSON.stringify(JSON.parse(value).slice(0, 1))
    if (value !== null && exampleValues[key] !== undefined && typeof value === typeof exampleValues[key])
      return exampleValues[key]
    const isTime = typeof value === 'string' && /^20\d\d-\d\d-\d\dT/.test(value) && !value.startsWith('2030')
    return isTime ? (exampleTimes[key] ?? '2026-03-02T09:15:00.000Z') : value
  })
}
