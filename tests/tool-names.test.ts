import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './support/keys.ts'
import { registerScript } from './support/registered-tools.ts'
import { expectProblem } from './support/rest.ts'
import { runCli } from './support/run-cli.ts'
import { startServer, type TestServer } from './support/start-server.ts'

let server: TestServer
/** Named like a tool of the config, without a namespace: the name is its id. */
const bare = 'coreutils_echo'
/** Named like a tool of the config, in a namespace of its own. */
const shared = 'coreutils_cat'

beforeAll(async () => {
  server = await startServer({ words: ['coreutils'] })
  await registerScript(server, bare, { script: 'echo "registered $1"' })
  await registerScript(server, shared, { script: 'echo "registered $1"', more: { namespace: 'acme' } })
  await eventually(
    () => server.request('GET', '/llm/tools?limit=1000'),
    ({ text }) => text.includes(`"acme:${shared}"`) && text.includes(`"${bare}"`),
  )
}, 60_000)
afterAll(() => server?.stop())

const get = (path: string) => server.request('GET', path)
const post = (path: string, body: object = {}) => server.request('POST', path, { body })
const cli = (words: readonly string[], named = true) =>
  runCli(words, {
    env: { TOOLDEX_HOME: server.home, TOOLDEX_API_KEY: server.key, TOOLDEX_URL: named ? server.url : undefined },
  })

describe('the id of a tool without a namespace', () => {
  it('means that tool wherever one reads, though a config has a tool of this name', async () => {
    expect((await get(`/tools/${bare}`)).body).toMatchObject({ name: bare, namespace: null })
    expect((await get(`/tools/${bare}/doc`)).body.id).toBe(bare)
    expect((await get(`/llm/tools/${bare}`)).body.id).toBe(bare)
    expect((await post('/describe', { ids: [bare] })).body.tools[0].id).toBe(bare)
    for (const named of [true, false])
      expect(JSON.parse((await cli(['describe', bare, '--json'], named)).stdout).tools[0].id).toBe(bare)
  })

  it('means that tool wherever one calls', async () => {
    const run = await post(`/tools/${bare}/execute`, { input: { word: 'x' }, wait: true })
    expect(run.body, run.text).toMatchObject({ status: 'SUCCESS', outputData: 'registered x\n' })
    const invoked = await post(`/llm/tools/${bare}/invoke`, { arguments: { word: 'x' } })
    expect(invoked.body, invoked.text).toMatchObject({ success: true, result: 'registered x\n' })
    for (const named of [true, false]) {
      const called = await cli(['call', bare, '--word', 'x'], named)
      expect(called.stdout, called.stderr).toBe('registered x\n')
    }
  })

  it('leaves the other tool to be called by its own id', async () => {
    expect((await post('/describe', { ids: [`coreutils:${bare}`] })).body.tools[0].id).toBe(`coreutils:${bare}`)
    const run = await post(`/tools/coreutils:${bare}/execute`, { input: { message: 'own' }, wait: true })
    expect(run.body, run.text).toMatchObject({ status: 'SUCCESS', outputData: 'own\n' })
  })

  it('runs nothing else while that tool is disabled', async () => {
    expect((await post(`/tools/${bare}/deactivate`)).status).toBe(200)
    expectProblem(await post(`/tools/${bare}/execute`, { input: { word: 'x' } }), 409, 'TOOL_DISABLED')
    const unknown = await post('/describe', { ids: [bare] })
    expectProblem(unknown, 404, 'TOOL_NOT_FOUND')
    await eventually(
      () => post('/describe', { ids: [bare] }),
      ({ body }) => body.hint.startsWith(`Did you mean 'coreutils:${bare}'`),
    )
    expect((await post(`/tools/${bare}/reactivate`)).status).toBe(200)
  })
})

describe('a bare name that two tools have', () => {
  const ids = `acme:${shared}, coreutils:${shared}`
  const refused = `tool name "${shared}" is ambiguous: ${ids}`

  it('is refused with their ids, wherever it is given', async () => {
    const answers = [
      await get(`/tools/${shared}/doc`),
      await get(`/llm/tools/${shared}`),
      await post('/describe', { ids: [shared] }),
      await post(`/tools/${shared}/execute`, { input: { word: 'x' } }),
      await post(`/llm/tools/${shared}/invoke`, { arguments: { word: 'x' } }),
    ]
    for (const answer of answers) {
      expectProblem(answer, 422, 'INPUT_INVALID')
      expect(answer.body.detail).toBe(refused)
    }
    for (const words of [
      ['describe', shared],
      ['call', shared, '--word', 'x'],
    ])
      expect((await cli(words)).stderr).toContain(refused)
  })

  it('is no way to either, and each is called by its id', async () => {
    const run = await post(`/tools/acme:${shared}/execute`, { input: { word: 'x' }, wait: true })
    expect(run.body, run.text).toMatchObject({ status: 'SUCCESS', outputData: 'registered x\n' })
    expect((await get(`/llm/tools/coreutils:${shared}`)).body.id).toBe(`coreutils:${shared}`)
  })
})
