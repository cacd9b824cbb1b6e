import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectProblem } from './support/rest.ts'
import { startServer, type TestServer } from './support/start-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ words: ['coreutils'] })
})
afterAll(() => server?.stop())

/** In a form that only the full reader knows, so that reading takes seconds. */
const slowText = (tools: number, more = '') =>
  `tooldex: 1\ntools:\n${Array.from(
    { length: tools },
    (_, at) =>
      `  - {name: tool_${at}, display_name: Tool ${at}, description: Does the thing number ${at}., input_schema: {type: object}, executor_type: http, executor_config: {method: GET, url: "https://example.com/"}} # ${at}\n`,
  ).join('')}${more}`

it('answers other requests while it reads a long bundle, and accepts the bundle', async () => {
  // A reader that blocked the server would let at most those before and after it through, however much it reads.
  let answers = 0
  for (const tools of [3000, 6000, 9000]) {
    let done = false
    const reading = server.request('POST', '/bundle', { body: { text: slowText(tools), dryRun: true } }).finally(() => {
      done = true
    })
    for (answers = 0; !done; answers++) await fetch(`${server.url}/healthz`)
    expect((await reading).body.plan.create).toHaveLength(tools)
    if (answers > 3) break
  }
  expect(answers).toBeGreaterThan(3)
})

it('reports problems of a long bundle by line and column', async () => {
  const body = { text: slowText(500, '  - {name: Bad Name, nonsense: 1}\n'), file: 'all.yaml', dryRun: true }
  const answer = await server.request('POST', '/bundle', { body })
  expectProblem(answer, 422, 'BUNDLE_INVALID')
  expect(answer.body.errors).toContainEqual(expect.objectContaining({ file: 'all.yaml', line: 503 }))
})

it('reports problems inside the tools of a long bundle by line and column, together with others', async () => {
  const inside = '  - {name: x, displayName: X, description: x, inputSchema: {type: objekt}, executorType: mcp}\n'
  const said = expect.objectContaining({
    file: 'all.yaml',
    line: 503,
    column: 67,
    message: expect.stringMatching(/objekt/),
  })
  for (const [more, code] of [
    ['', 'TOOL_INVALID'],
    ['  - {name: Bad Name, nonsense: 1}\n', 'BUNDLE_INVALID'],
  ] as const) {
    const body = { text: slowText(500, `${inside}${more}`), file: 'all.yaml', dryRun: true }
    const answer = await server.request('POST', '/bundle', { body })
    expectProblem(answer, 422, code)
    expect(answer.body.errors).toContainEqual(said)
  }
})
