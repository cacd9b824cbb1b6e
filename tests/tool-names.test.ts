import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './support/keys.ts'
import { registerScript } from './support/registered-tools.ts'
import { draft, expectProblem } from './support/rest.ts'
import { runInline } from './support/run-here.ts'
import { startServer, type TestServer } from './support/start-server.ts'

let server: TestServer
/** Named like a tool of the config, without a namespace. */
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
})
afterAll(() => server?.stop())

const get = (path: string) => server.request('GET', path)
const post = (path: string, body: object = {}) => server.request('POST', path, { body })
const cli = (words: readonly string[], named = true) =>
  runInline(words, {
    env: { TOOLDEX_HOME: server.home, TOOLDEX_API_KEY: server.key, TOOLDEX_URL: named ? server.url : undefined },
  })

describe('a registered tool without a namespace, named like a tool of a config', () => {
  const full = `registry:${bare}`

  it('is a resource of the registry under its name', async () => {
    expect((await get(`/tools/${bare}`)).body).toMatchObject({ name: bare, namespace: null })
  })

  it('is read and called by its full id', async () => {
    expect((await get(`/tools/${full}/doc`)).body.id).toBe(bare)
    expect((await get(`/llm/tools/${full}`)).body.id).toBe(bare)
    expect((await post('/describe', { ids: [full] })).body.tools[0].id).toBe(bare)
    const run = await post(`/tools/${full}/execute`, { input: { word: 'x' }, wait: true })
    expect(run.body, run.text).toMatchObject({ status: 'SUCCESS', outputData: 'registered x\n' })
    const invoked = await post(`/llm/tools/${full}/invoke`, { arguments: { word: 'x' } })
    expect(invoked.body, invoked.text).toMatchObject({ success: true, result: 'registered x\n' })
    for (const named of [true, false]) {
      const called = await cli(['call', full, '--word', 'x'], named)
      expect(called.stdout, called.stderr).toBe('registered x\n')
    }
  })

  it('is called by the name that it has in lists for models', async () => {
    const { aliases } = (await get('/llm/tools?limit=1000&format=openai')).body
    const [alias] = Object.entries(aliases).find(([, id]) => id === full) ?? []
    const invoked = await post(`/llm/tools/${alias}/invoke`, { arguments: { word: 'x' } })
    expect(invoked.body, invoked.text).toMatchObject({ success: true, result: 'registered x\n' })
  })

  it('leaves the other tool to be called by its own id', async () => {
    expect((await post('/describe', { ids: [`coreutils:${bare}`] })).body.tools[0].id).toBe(`coreutils:${bare}`)
    const run = await post(`/tools/coreutils:${bare}/execute`, { input: { message: 'own' }, wait: true })
    expect(run.body, run.text).toMatchObject({ status: 'SUCCESS', outputData: 'own\n' })
  })

  it('leaves the name to the other tool while it is disabled', async () => {
    expect((await post(`/tools/${bare}/deactivate`)).status).toBe(200)
    expectProblem(await post(`/tools/${full}/execute`, { input: { word: 'x' } }), 409, 'TOOL_DISABLED')
    const run = await post(`/tools/${bare}/execute`, { input: { message: 'own' }, wait: true })
    expect(run.body, run.text).toMatchObject({ status: 'SUCCESS', outputData: 'own\n' })
    expect((await post(`/tools/${bare}/reactivate`)).status).toBe(200)
  })
})

describe('a bare name that two tools have', () => {
  it.each([
    [shared, `acme:${shared}, coreutils:${shared}`],
    [bare, `coreutils:${bare}, registry:${bare}`],
  ])('is refused with their ids, wherever it is given: %s', async (name, ids) => {
    const refused = `tool name "${name}" is ambiguous: ${ids}`
    const answers = [
      await get(`/tools/${name}/doc`),
      await get(`/llm/tools/${name}`),
      await post('/describe', { ids: [name] }),
      await post(`/tools/${name}/execute`, { input: { word: 'x' } }),
      await post(`/llm/tools/${name}/invoke`, { arguments: { word: 'x' } }),
    ]
    for (const answer of answers) {
      expectProblem(answer, 422, 'INPUT_INVALID')
      expect(answer.body.detail).toBe(refused)
    }
    for (const words of [
      ['describe', name],
      ['call', name, '--word', 'x'],
    ])
      expect((await cli(words)).stderr).toContain(refused)
    expect((await cli(['call', name, '--word', 'x'], false)).stderr).toContain(refused)
  })

  it('resolves to neither, and each is called by its id', async () => {
    const run = await post(`/tools/acme:${shared}/execute`, { input: { word: 'x' }, wait: true })
    expect(run.body, run.text).toMatchObject({ status: 'SUCCESS', outputData: 'registered x\n' })
    expect((await get(`/llm/tools/coreutils:${shared}`)).body.id).toBe(`coreutils:${shared}`)
  })
})

describe('a registered tool in a namespace', () => {
  const ids = ['nsd', 'acme:nsd']
  const pins = ['nsd@1', 'acme:nsd@1', 'acme:nsd:1']

  beforeAll(async () => {
    await registerScript(server, 'nsd', { script: 'echo "first $1"', more: { namespace: 'acme' } })
    const changed = await server.request('PATCH', '/tools/acme:nsd', { body: { description: 'Says it again.' } })
    expect(changed.body, changed.text).toMatchObject({ version: 2, description: 'Says it again.' })
    await eventually(
      () => get('/llm/tools?limit=1000'),
      ({ text }) => text.includes('Says it again.'),
    )
  })

  it.each([...ids, ...pins])('is read by %s', async (id) => {
    const [version, text] = pins.includes(id) ? [1, 'Says what nsd says.'] : [2, 'Says it again.']
    expect((await get(`/tools/${id}`)).body).toMatchObject({ name: 'nsd', version, description: text })
    expect((await get(`/tools/${id}/versions`)).body.items).toHaveLength(2)
    expect((await get(`/tools/${id}/diff?from=1`)).body.to).toBe(version)
    expect((await get(`/tools/${id}/doc`)).body).toMatchObject({ id: 'acme:nsd', tool: { description: text } })
    expect((await get(`/tools/${id}/executions`)).status).toBe(200)
    expect((await get(`/llm/tools/${id}`)).text).toContain(text)
    const { tools } = (await post('/describe', { ids: [id], level: 'full' })).body
    expect(tools).toMatchObject([{ id: 'acme:nsd', tool: { description: text } }])
    const run = await post(`/tools/${id}/execute`, { input: { word: 'x' }, wait: true })
    expect(run.body, run.text).toMatchObject({ version, outputData: 'first x\n' })
  })

  it('is read by the same words in commands', async () => {
    for (const id of ['acme:nsd@1', 'acme:nsd:1', 'nsd@1']) {
      expect(JSON.parse((await cli(['tools', 'get', id, '--json'])).stdout)).toMatchObject({ version: 1 })
      expect((await cli(['describe', id])).stdout).toContain('Says what nsd says.')
    }
    expect(JSON.parse((await cli(['tools', 'get', 'acme:nsd', '--json'])).stdout)).toMatchObject({ version: 2 })
  })

  it('is unknown in another namespace, and has only the versions it has', async () => {
    for (const path of ['/tools/other:nsd', '/tools/other:nsd/doc', '/llm/tools/other:nsd@1', '/tools/acme:nsd:one'])
      expectProblem(await get(path), 404, 'TOOL_NOT_FOUND')
    for (const pin of ['nsd@3', 'acme:nsd@0', 'acme:nsd:99999999999'])
      for (const path of [`/tools/${pin}`, `/tools/${pin}/doc`, `/llm/tools/${pin}`]) {
        const answer = await get(path)
        expectProblem(answer, 404, 'NOT_FOUND')
        expect(answer.body.detail).toContain('its versions are 1 to 2.')
      }
  })

  it('cannot be changed in one version', async () => {
    const asks = [
      ['PATCH', '', { description: 'Other.' }],
      ['DELETE', '', undefined],
      ['POST', '/deactivate', {}],
      ['POST', '/reactivate', {}],
      ['POST', '/rollback', { version: 1 }],
      ['POST', '/proposals', { change: { description: 'Other.' } }],
    ] as const
    for (const pin of pins)
      for (const [method, step, body] of asks) {
        const answer = await server.request(method, `/tools/${pin}${step}`, body === undefined ? {} : { body })
        expectProblem(answer, 422, 'INPUT_INVALID')
        expect(answer.body).toMatchObject({
          detail: `${pin} is a single version, and a version cannot be changed.`,
          hint: 'Leave the version out: acme:nsd',
        })
      }
    expect((await get('/tools/nsd')).body).toMatchObject({ version: 2, status: 'ACTIVE' })
  })

  it('is changed by its id', async () => {
    expect((await post('/tools/acme:nsd/deactivate')).body.status).toBe('DISABLED')
    expect((await post('/tools/acme:nsd/reactivate')).body.status).toBe('ACTIVE')
    expectProblem(await post('/tools/other:nsd/deactivate'), 404, 'TOOL_NOT_FOUND')
  })
})

describe('the name that a tool has in a list for a model', () => {
  it.each(['mcp', 'openai', 'gemini'])('leads to its definition and to the tool: %s', async (format) => {
    const { aliases } = (await get(`/llm/tools?limit=1000&format=${format}`)).body
    const [alias] = Object.entries(aliases).find(([, id]) => id === 'coreutils:coreutils_echo') ?? []
    expect(alias).toMatch(/^(coreutils_)?coreutils_echo$/)
    expect((await get(`/llm/tools/${alias}?format=${format}`)).body.id).toBe('coreutils:coreutils_echo')
    expect((await post(`/llm/tools/${alias}/invoke`, { arguments: { message: 'own' } })).body.result).toBe('own\n')
  })
})

describe("the namespace 'tooldex'", () => {
  it('is refused wherever a tool is written', async () => {
    const tool = draft('read_result', { namespace: 'tooldex' })
    const answers = [
      await post('/tools', tool),
      await server.request('PATCH', '/tools/nsd', { body: { namespace: 'tooldex' } }),
      await post('/bundle', { bundle: { tooldex: 1, tools: [tool] } }),
    ]
    for (const [index, answer] of answers.entries()) {
      expectProblem(answer, 422, 'TOOL_INVALID')
      // Of a bundle the tool is named as well.
      const pointer = index < 2 ? '/namespace' : '/bundle/tools/0/namespace'
      const hint = 'choose another namespace, or none'
      expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer, hint }))
    }
    expectProblem(await get('/tools/read_result'), 404, 'TOOL_NOT_FOUND')
  })
})
