import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'tooldex-example-'))
const key = 'a-key-for-this-example-only'
const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties) })

/** A service to ask: it knows the weather of every city, and only tells it to whoever has its token. */
const weather = createServer((request, response) => {
  const city = decodeURIComponent(request.url.split('/').at(-1))
  response.statusCode = request.headers.authorization === 'Bearer token-of-the-service' ? 200 : 401
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ city, celsius: city.length, asked: request.headers.authorization }))
})
await once(weather.listen(0, '127.0.0.1'), 'listening')

/** One tool of each kind. */
const tools = [
  {
    name: 'word_lengths',
    displayName: 'Word lengths',
    description: 'Count the letters of each word of a text.',
    inputSchema: object({ text: { type: 'string' } }),
    executorType: 'python',
    scriptContent:
      'def main(given):\n    print("counting")\n    return [len(word) for word in given["text"].split()]\n',
    executorConfig: {},
  },
  {
    name: 'city_weather',
    displayName: 'Weather of a city',
    description: 'Say how warm it is in a city now.',
    inputSchema: object({ city: { type: 'string' } }),
    executorType: 'http',
    executorConfig: {
      method: 'GET',
      url: `http://127.0.0.1:${weather.address().port}/weather/{city}`,
      auth: { type: 'bearer', secret: 'secret:weather' },
      allowPrivate: true,
    },
  },
  {
    name: 'keep_note',
    displayName: 'Keep a note',
    description: 'Keep a note for later.',
    inputSchema: object({ text: { type: 'string' } }),
    executorType: 'mcp',
    executorConfig: { server: 'notes', tool: 'add_note' },
  },
  {
    name: 'say_aloud',
    displayName: 'Say aloud',
    description: 'Print a text to the terminal.',
    inputSchema: object({ text: { type: 'string' } }),
    executorType: 'cli',
    executorConfig: { baseCommand: 'echo', args: [{ name: 'text', positional: true, required: true }] },
  },
]

const servers = { mcpServers: { notes: { command: process.execPath, args: [at('notes-server.mjs')] } } }
writeFileSync(join(home, 'servers.json'), JSON.stringify(servers))

const { DATABASE_URL: _database, TOOLDEX_URL: _server, ...outer } = process.env
const settings = { TOOLDEX_HOME: home, TOOLDEX_API_KEY: key, TOOLDEX_SECRET_KEY: 'what secrets are sealed with' }
const server = spawn(process.execPath, [at('../../dist/app/main.js'), 'serve', '--port', '0'], {
  env: { ...outer, ...settings },
  stdio: ['ignore', 'ignore', 'pipe'],
})

/** Where the server says that it is. */
const addressOf = () =>
  new Promise((resolve, reject) => {
    let said = ''
    server.stderr.setEncoding('utf8').on('data', (text) => {
      said += text
      const [, url] = /serves .* at (http:\S+)/.exec(said) ?? []
      if (url !== undefined) resolve(url)
    })
    server.once('exit', () => reject(new Error(`the server ended: ${said}`)))
  })

try {
  const url = await addressOf()
  const ask = async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) })
    const answer = await response.json()
    assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }
  const execute = (name, input, more = {}) => ask('POST', `/tools/${name}/execute`, { input, wait: true, ...more })

  await ask('PUT', '/secrets/weather', { value: 'token-of-the-service' })
  for (const tool of tools) {
    await ask('POST', '/tools', tool)
    assert.equal((await ask('POST', `/tools/${tool.name}/validate`)).valid, true)
    await ask('POST', `/tools/${tool.name}/activate`)
  }
  console.log('four tools are registered: a script, a request, a tool of an MCP server, a command')

  const found = async (query) => (await ask('GET', `/search?query=${encodeURIComponent(query)}`)).results[0]?.name
  const deadline = Date.now() + 10_000
  while ((await found('how warm is it in Oslo')) !== 'city_weather') assert.ok(Date.now() < deadline, 'it is not found')
  console.log('they are found by what they do')

  const { plan } = await execute('city_weather', { city: 'Oslo' }, { dryRun: true })
  assert.match(plan.request.url, /\/weather\/Oslo$/)
  assert.equal(plan.request.headers.authorization, 'bearer [secret:weather]')
  const planned = await execute('keep_note', { text: 'milk' }, { dryRun: true })
  assert.deepEqual(planned.plan.upstream, { server: 'notes', tool: 'add_note', arguments: { text: 'milk' } })
  assert.deepEqual((await execute('say_aloud', { text: 'hi' }, { dryRun: true })).plan.argv, ['echo', 'hi'])
  assert.match((await execute('word_lengths', { text: 'a' }, { dryRun: true })).plan.script.content, /def main/)
  console.log('a dry run shows exactly what would happen, and no secret')

  const runs = {
    word_lengths: await execute('word_lengths', { text: 'one three' }),
    city_weather: await execute('city_weather', { city: 'Oslo' }),
    keep_note: await execute('keep_note', { text: 'milk' }),
    say_aloud: await execute('say_aloud', { text: 'hello' }),
  }
  assert.deepEqual(runs.word_lengths.outputData, [3, 5])
  assert.equal(runs.city_weather.outputData.celsius, 4)
  assert.deepEqual(runs.keep_note.outputData, { kept: 1, last: 'milk' })
  assert.equal(runs.say_aloud.outputData.trim(), 'hello')
  console.log('each gives its result')

  const { items } = await ask('GET', '/executions?limit=10')
  assert.deepEqual(items.map(({ toolName }) => toolName).sort(), Object.keys(runs).sort())
  const kept = await ask('GET', `/executions/${runs.city_weather.id}`)
  assert.equal(kept.status, 'SUCCESS')
  assert.equal(kept.outputData.asked, 'Bearer [redacted secret:weather]')
  assert.equal((await ask('GET', `/executions/${runs.word_lengths.id}`)).logs.stdout, 'counting\n')
  console.log('every run is recorded; the secret that the service echoed is not in it')
} finally {
  server.kill('SIGTERM')
  if (server.exitCode === null) await once(server, 'exit')
  weather.closeAllConnections()
  weather.close()
  rmSync(home, { recursive: true, force: true })
}
