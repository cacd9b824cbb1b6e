import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { findPython } from '../src/executors/process/find-python.ts'
import { makeKey } from './support/keys.ts'
import { needs } from './support/needs.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { lastingFolder, tempFile, tempScript } from './support/temp-folder.ts'

let server: TestServer
const folder = lastingFolder()
const [startedFile, countsFile, running] = ['started', 'counts', 'running'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
]

beforeAll(async () => {
  const away = { url: 'http://127.0.0.1:9/mcp', allowPrivate: true }
  const program = { command: tempScript('upstream.sh', `#!/bin/sh\ntouch '${startedFile}'\nexec cat\n`, folder) }
  const servers = tempFile('servers.json', JSON.stringify({ mcpServers: { away, program } }), folder)
  // Notes how many run at the same moment, itself included.
  mkdirSync(running)
  const count = `mkdir '${running}'/$$; ls '${running}' | wc -l >> '${countsFile}'`
  // Self-tests of sandboxes use this interpreter too; only the program that checks scripts counts.
  const others = `case "$*" in *'no main'*) ;; *) exec ${findPython()} "$@" ;; esac`
  const counting = `#!/bin/sh\n${others}\n${count}\n${findPython()} "$@"\ncode=$?\nrmdir '${running}'/$$\nexit $code\n`
  const env = { TOOLDEX_PYTHON: tempScript('python.sh', counting, folder) }
  server = await startServer({
    limitedBecause: 'its upstream program and its Python interpreter write to files of the test',
    words: ['--mcp-servers', servers],
    env,
  })
  const tool = {
    name: 'far_away',
    displayName: 'Far away',
    description: 'Asks a server that is not there',
    inputSchema: { type: 'object' },
    executorType: 'mcp',
    executorConfig: { server: 'away', tool: 'ask' },
  }
  const made = await server.request('POST', '/tools', { body: tool })
  expect(made.status, made.text).toBe(201)
  expect((await server.request('POST', '/tools/far_away/activate')).status).toBe(200)
})
afterAll(() => server?.stop())

async function listOverMcp(key: string) {
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }))
  onTestFinished(() => client.close())
  return { ...(await client.listPrompts()), ...(await client.listResources()) }
}

const find = async (more: object = {}) => {
  const { body } = await server.request('POST', '/search', { body: { query: 'far_away', ...more } })
  return body.results.find(({ name }: { name: string }) => name === 'far_away')
}

it('reports that the server of a registered tool is down, in search, descriptions and filters', async () => {
  await expect.poll(find).toBeDefined()
  expect((await find()).readiness).toBeUndefined()
  for (let call = 0; call < 3; call++) {
    const { body } = await server.request('POST', '/tools/far_away/execute', { body: { wait: true } })
    expect(body.errorCode).toMatch(/^UPSTREAM_(ERROR|DOWN)$/)
  }
  expect((await find()).readiness).toMatchObject({ state: 'upstream-down', reason: expect.stringContaining('away') })
  expect(await find({ readiness: ['ready'] })).toBeUndefined()
  expect(await find({ readiness: ['upstream-down'] })).toBeDefined()
  const { body } = await server.request('POST', '/describe', { body: { ids: ['far_away'] } })
  expect(body.tools[0].readiness.state).toBe('upstream-down')
})

it('reports a missing credential with the page to enter it, until it is stored', async () => {
  const tool = {
    name: 'locked_away',
    displayName: 'Locked away',
    description: 'Asks a service that needs a credential',
    inputSchema: { type: 'object' },
    executorType: 'http',
    executorConfig: { method: 'GET', url: 'https://example.com/', auth: { type: 'bearer', secret: 'secret:locked' } },
  }
  const made = await server.request('POST', '/tools', { body: tool })
  expect(made.status, made.text).toBe(201)
  expect((await server.request('POST', '/tools/locked_away/activate')).status).toBe(200)
  const search = async (more: object = {}) => {
    const { body } = await server.request('POST', '/search', { body: { query: 'locked_away', ...more } })
    return body.results.find(({ name }: { name: string }) => name === 'locked_away')
  }
  await expect.poll(search, { timeout: 60_000 }).toBeDefined()
  expect((await search()).readiness).toEqual({
    state: 'needs-credentials',
    reason: "There is no secret 'locked'; store it with: tooldex secrets set locked",
    url: `${server.url}/admin?tab=secrets`,
  })
  const { body } = await server.request('POST', '/describe', { body: { ids: ['locked_away'] } })
  expect(body.tools[0].readiness.url).toBe(`${server.url}/admin?tab=secrets`)
  expect(await search({ readiness: ['needs-credentials'] })).toBeDefined()
  expect((await server.request('PUT', '/secrets/locked', { body: { value: 'a-long-secret' } })).status).toBe(200)
  await expect.poll(async () => (await search()).readiness, { timeout: 60_000 }).toBeUndefined()
})

it('starts no program of an upstream server for a key that may only read', async () => {
  const reader = await makeKey(server, 'reader', ['read'])
  const executorConfig = { server: 'program', tool: 'any' }
  const tool = { name: 'starts', displayName: 'Starts', description: 'Starts it', inputSchema: { type: 'object' } }
  const draft = { ...tool, executorType: 'mcp', executorConfig }
  const read = await server.request('POST', '/validate', { key: reader, body: draft })
  expect(read.body, read.text).toMatchObject({
    valid: true,
    problems: [{ severity: 'warning', message: expect.stringContaining('needs the scope write') }],
  })
  const wrong = await server.request('POST', '/validate', { key: reader, body: { ...draft, tags: 7 } })
  expect(wrong.status).toBe(422)
  expect((await server.request('POST', '/tools/far_away/validate', { key: reader })).status).toBe(200)
  for (const kind of ['prompts', 'resources', 'templates']) {
    const { body } = await server.request('GET', `/upstreams/${kind}`, { key: reader })
    const reason = expect.stringContaining('a key with the scope call starts it')
    expect(body).toEqual({ items: [], unavailable: expect.arrayContaining([{ server: 'program', reason }]) })
  }
  expect(await listOverMcp(reader)).toMatchObject({ prompts: [], resources: [] })
  const routes = ['/sources', '/stats', '/lint', '/queue', '/tools', '/tools/far_away/doc', '/openapi.json', '/bundle']
  for (const path of routes) await server.request('GET', path, { key: reader })
  expect(existsSync(startedFile)).toBe(false)
  await server.request('POST', '/validate', { body: draft })
  expect(existsSync(startedFile)).toBe(true)
})

needs(findPython() !== undefined, 'no python3')('checks at most two scripts at once', async () => {
  const script = (at: number) => `def main(arguments):\n    return ${at}\n`
  const tool = { name: 'many', displayName: 'Many', description: 'One of many', inputSchema: { type: 'object' } }
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      server.request('POST', '/validate', { body: { ...tool, executorType: 'python', scriptContent: script(at) } }),
    ),
  )
  expect(answers.map(({ body }) => body.valid)).toEqual(Array(8).fill(true))
  const counts = readFileSync(countsFile, 'utf8').trim().split('\n').map(Number)
  expect(counts).toHaveLength(8)
  expect(Math.max(...counts)).toBeLessThanOrEqual(2)
})
