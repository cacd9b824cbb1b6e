import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { longestTurnMs, watchTurns } from '../fuzz/watch-turns.ts'
import { onEachEngine } from '../support/each-engine.ts'
import { ask, type TestAnswer } from '../support/start-server.ts'
import { stdioServer } from '../upstreams/start-executor.ts'

const items = Array.from({ length: 60_000 }, (_, id) => ({
  id,
  name: `name ${id}`,
  tags: ['a', 'b', id],
  text: 'word '.repeat(8),
}))
const large = JSON.stringify({ items })
const words = Array.from({ length: 4000 }, (_, at) => `word${at % 977}x${at % 13}`)
const bundled = (prefix: string, description: string) =>
  Array.from({ length: 1200 }, (_, at) => ({
    name: `${prefix}_${at}`,
    displayName: `Bundled ${at}`,
    description: `${description} ${words.slice(at, at + 60).join(' ')}`,
    executorType: 'http',
    executorConfig: { method: 'GET', url: 'https://example.com/' },
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        words.slice(at, at + 30).map((word, n) => [`${word}_${n}`, { type: 'string', description: 'A word or two.' }]),
      ),
    },
    tags: ['bundled'],
    status: 'ACTIVE',
  }))
const bundleOf = (tools: readonly object[]) => ({ tooldex: 1, tools, categories: [], policies: [] })

const watch = watchTurns()
let service: Server

beforeAll(async () => {
  service = createServer((request, response) => {
    const type = request.url === '/text' ? 'text/plain' : 'application/json'
    response.setHeader('content-type', type).end(large)
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
})

afterAll(() => {
  service?.closeAllConnections()
  service?.close()
  watch.close()
})

const script = (expression: string) => ({
  executorType: 'python',
  scriptContent: `def main(arguments):\n    return ${expression}\n`,
  executorConfig: {},
})
const outputSchema = { type: 'object', properties: { items: { type: 'array', items: { type: 'object' } } } }
const upstream = (tool: string) => ({ executorType: 'mcp', executorConfig: { server: 'up', tool } })

/** Tools with outputs of several megabytes. */
function largeOutputs(): Record<string, object> {
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const http = (path: string, response: object = {}) => ({
    executorType: 'http',
    executorConfig: { method: 'GET', url: url + path, allowPrivate: true, response },
  })
  const count = { name: 'count', type: 'integer', positional: true, default: 140_000 }
  return {
    get_json: { ...http('/json'), outputSchema },
    get_part: http('/json', { path: '$.items[*]' }),
    get_text: http('/text'),
    print_much: {
      executorType: 'cli',
      executorConfig: { baseCommand: 'seq', args: [count] },
      inputSchema: { type: 'object', properties: { count: { type: 'integer', default: 140_000 } } },
    },
    make_list: script('[{"id": n, "text": "word " * 8} for n in range(100000)]'),
    make_numbers: script('list(range(1500000))'),
    make_text: script('"é\\n" * 1500000'),
    upstream_structure: upstream('structure'),
    upstream_items: upstream('half-items'),
    upstream_text: upstream('text'),
    upstream_json: { ...upstream('json-text'), outputSchema },
    upstream_image: upstream('base64'),
  }
}

onEachEngine(
  'the event loop of a server',
  (server) => {
    /** Turns of the server's event loop that took more CPU time than any may, during some work. */
    async function longTurns(work: () => Promise<unknown>): Promise<readonly string[]> {
      const since = Date.now()
      await work()
      // The watch writes a turn down when the next one begins, which this answer is part of.
      for (let beat = 0; beat < 3; beat++) await server().request('GET', '/tools?limit=1')
      const turns = watch.turns().filter(({ at }) => at > since)
      return turns
        .filter(({ cpuMs }) => cpuMs > longestTurnMs)
        .map(({ cpuMs, stack = '' }) => `${Math.round(cpuMs)} ms ${stack}`)
    }

    async function watched(request: () => Promise<TestAnswer>, status = 200): Promise<TestAnswer> {
      let answer: TestAnswer | undefined
      const long = await longTurns(async () => {
        answer = await request()
      })
      expect(answer?.status, answer?.text.slice(0, 1000)).toBe(status)
      expect(long).toEqual([])
      return answer as TestAnswer
    }

    it.each([
      'get_json',
      'get_part',
      'get_text',
      'print_much',
      'make_list',
      'make_numbers',
      'make_text',
      'upstream_structure',
      'upstream_items',
      'upstream_text',
      'upstream_json',
      'upstream_image',
    ])(
      'has no turn over 50 ms while %s returns several megabytes',
      async (name) => {
        const draft = { name, displayName: name, description: 'Returns much.', inputSchema: { type: 'object' } }
        const made = await server().request('POST', '/tools', { body: { ...draft, ...largeOutputs()[name] } })
        expect(made.status, made.text).toBe(201)
        await server().request('POST', `/tools/${name}/activate`)
        const execute = () => server().request('POST', `/tools/${name}/execute`, { body: { input: {}, wait: true } })
        const { body } = await watched(execute)
        expect(body).toMatchObject({ status: 'SUCCESS' })
        if (body.result?.handle) await watched(() => server().request('GET', `/results/${body.result.handle}?limit=10`))
      },
      600_000,
    )

    const post = (path: string, body: object) => () => server().request('POST', path, { body })
    const get = (path: string) => () => server().request('GET', path)
    const text = JSON.stringify(bundleOf(bundled('bundled', 'First.')))
    const changed = JSON.stringify(bundleOf(bundled('bundled', 'Changed.')))
    const invalid = bundled('invalid', 'Invalid.').map((tool) => ({ ...tool, name: 7, tags: 'none', other: true }))
    const query = words.slice(0, 900).join(' ')
    const work: Record<string, readonly [() => Promise<TestAnswer>, number]> = {
      'POST /bundle with a text of 1,200 tools': [post('/bundle', { text }), 200],
      'POST /bundle with 1,200 other tools as an object': [
        post('/bundle', { bundle: bundleOf(bundled('object', 'Second.')) }),
        200,
      ],
      'POST /bundle with 1,200 changed tools': [post('/bundle', { text: changed }), 200],
      'POST /bundle with 1,200 changed tools as an object': [
        post('/bundle', { bundle: bundleOf(bundled('bundled', 'Third.')) }),
        200,
      ],
      'POST /bundle with 1,200 invalid tools': [post('/bundle', { bundle: bundleOf(invalid) }), 422],
      'POST /bundle with a text of 20 MB in one string': [post('/bundle', { text: 'x'.repeat(20_000_000) }), 422],
      'POST /bundle that prunes and removes 1,200 tools': [post('/bundle', { text, prune: true, dryRun: true }), 200],
      'POST /tools with 1 MB of strings': [post('/tools', { tags: Array(19_000).fill('a'.repeat(40)) }), 422],
      'GET /bundle': [get('/bundle'), 200],
      'GET /llm/tools': [get('/llm/tools?limit=1000'), 200],
      'POST /search with 900 words, facets and explanations': [
        post('/search', { query, facets: true, explain: true }),
        200,
      ],
      'POST /search of substrings': [post('/search', { query: 'word', mode: 'substring', limit: 100 }), 200],
      'POST /search of embeddings': [post('/search', { query, mode: 'embedding', limit: 100 }), 200],
      'POST /describe of 50 unknown names': [
        post('/describe', { ids: Array.from({ length: 50 }, (_, at) => `unknown_${at}`) }),
        404,
      ],
      'GET /tools': [get('/tools?limit=100&search=word1x1'), 200],
      'GET /tags': [get('/tags'), 200],
      'GET /lint': [get('/lint'), 200],
      'POST /eval with 200 queries': [
        post('/eval', {
          queries: Array.from({ length: 200 }, () => ({ query: query.slice(0, 1000), relevant: ['x'] })),
        }),
        200,
      ],
      'GET /.well-known/agent-card.json': [
        () => ask(`${server().url}/.well-known/agent-card.json`, 'GET', { key: server().key }),
        200,
      ],
      'GET /stats': [get('/stats'), 200],
      'GET /audit': [get('/audit?limit=100'), 200],
    }
    it.each(Object.keys(work))(
      'has no turn over 50 ms during %s',
      async (name) => {
        const [request, status] = work[name] as (typeof work)[string]
        await watched(request, status)
      },
      600_000,
    )
  },
  {
    env: watch.env,
    async prepare({ home }) {
      writeFileSync(
        join(home, 'servers.json'),
        JSON.stringify({ mcpServers: { up: stdioServer('hostile-server.mjs') } }),
      )
    },
  },
)
