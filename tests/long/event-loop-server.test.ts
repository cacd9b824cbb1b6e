import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { longestTurnMs } from '../fuzz/run-fuzz.ts'
import { projectRoot } from '../support/run-cli.ts'
import { startServer, type TestServer } from '../support/start-server.ts'

const items = Array.from({ length: 60_000 }, (_, id) => ({
  id,
  name: `name ${id}`,
  tags: ['a', 'b', id],
  text: 'word '.repeat(8),
}))
const large = JSON.stringify({ items })

let server: TestServer
let service: Server
let turns: string

beforeAll(async () => {
  service = createServer((request, response) => {
    if (request.url === '/small') return response.setHeader('content-type', 'application/json').end('{}')
    const type = request.url === '/text' ? 'text/plain' : 'application/json'
    response.setHeader('content-type', type).end(large)
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  turns = mkdtempSync(join(tmpdir(), 'tooldex-turns-'))
  const watch = pathToFileURL(join(projectRoot, 'tests/fuzz/watch-loop.mjs')).href
  server = await startServer({
    env: {
      NODE_OPTIONS: `--import=${watch}`,
      TOOLDEX_LOOP_FOLDER: turns,
      TOOLDEX_LOOP_STACK: process.env.TOOLDEX_LOOP_STACK,
    },
  })
})

afterAll(async () => {
  await server?.stop()
  service?.closeAllConnections()
  service?.close()
  if (turns !== undefined) rmSync(turns, { recursive: true, force: true })
})

/** Turns of the server's event loop that took more CPU time than any may, during some work. */
async function longTurns(work: () => Promise<unknown>): Promise<readonly string[]> {
  const since = Date.now()
  await work()
  // The watch writes a turn down when the next one begins, which this answer is part of.
  for (let beat = 0; beat < 3; beat++) await server.request('GET', '/tools?limit=1')
  return readdirSync(turns)
    .flatMap((file) => readFileSync(join(turns, file), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { at: number; cpuMs: number; stack?: string })
    .filter(({ at, cpuMs }) => at > since && cpuMs > longestTurnMs)
    .map(({ cpuMs, stack = '' }) => `${Math.round(cpuMs)} ms ${stack}`)
}

const tool = (name: string, more: object) => ({
  name,
  displayName: name,
  description: `A tool called ${name} that returns much.`,
  inputSchema: { type: 'object' },
  ...more,
})

async function add(name: string, more: object) {
  const made = await server.request('POST', '/tools', { body: tool(name, more) })
  expect(made.status, made.text).toBe(201)
  await server.request('POST', `/tools/${name}/activate`)
}

async function call(name: string, input: object = {}) {
  const { body } = await server.request('POST', `/tools/${name}/execute`, { body: { input, wait: true } })
  expect(body).toMatchObject({ status: 'SUCCESS' })
  return body
}

describe('the event loop of a server', () => {
  it('reads, validates, redacts and stores outputs of several megabytes elsewhere', async () => {
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    const http = (path: string, response: object = {}) => ({
      executorType: 'http',
      executorConfig: { method: 'GET', url: url + path, allowPrivate: true, response },
    })
    // Modules are loaded with the first call.
    await add('get_small', http('/small'))
    await call('get_small')
    const outputSchema = { type: 'object', properties: { items: { type: 'array', items: { type: 'object' } } } }
    await add('get_json', { ...http('/json'), outputSchema })
    await add('get_part', http('/json', { path: '$.items[*]' }))
    await add('get_text', http('/text'))
    await add('print_much', {
      executorType: 'cli',
      executorConfig: {
        baseCommand: 'seq',
        args: [{ name: 'count', type: 'integer', positional: true, default: 140_000 }],
      },
      inputSchema: { type: 'object', properties: { count: { type: 'integer', default: 140_000 } } },
    })
    for (const name of ['get_json', 'get_part', 'get_text', 'print_much']) {
      let execution: Awaited<ReturnType<typeof call>>
      const long = await longTurns(async () => {
        execution = await call(name)
      })
      expect({ name, long }).toEqual({ name, long: [] })
      expect(execution.result.bytes).toBeGreaterThan(800_000)
    }
  })
})
