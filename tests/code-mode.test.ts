import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { auditRuns, keepHistory } from './support/audit-runs.ts'
import { connect } from './support/connect.ts'
import { openRegistry } from './support/open-registry.ts'
import { registerScript } from './support/registered-tools.ts'
import { runInline } from './support/run-here.ts'
import { startServer, type TestServer } from './support/start-server.ts'

it('describes tools of configs and of the registry as TypeScript declarations over HTTP', async () => {
  const site = await openRegistry(['git'])
  onTestFinished(() => site.close())
  const { request } = site
  const git = await request('GET', '/tools/git_log/doc?format=typescript')
  expect(git.status).toBe(200)
  expect(git.body.typescript).toMatch(
    /^interface Tools {\n {2}\/\*\* .*\n {2}git_log\(input\?: {\n.*max_count\?: number/s,
  )
  expect(git.body).not.toHaveProperty('tool')
  const body = {
    name: 'tides',
    displayName: 'Tides',
    description: 'Returns the tides of a port.',
    inputSchema: { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] },
    outputSchema: { type: 'object', properties: { high: { type: 'number' } }, required: ['high'] },
    executorType: 'http',
    executorConfig: { method: 'GET', url: 'https://tides.example/{port}' },
  }
  expect((await request('POST', '/tools', { body })).status).toBe(201)
  const draft = await request('GET', '/tools/tides/doc?format=typescript&level=summary')
  expect(draft.body.typescript).toContain('tides(input: {\n    port: string\n  }): Promise<{\n    high: number\n  }>')
  const unknown = await request('GET', '/tools/tides/doc?format=java')
  expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([422, '/format'])
  const program = await request('POST', '/tools', { body: { ...body, name: 'p', executorType: 'program' } })
  expect([program.status, program.body.errors[0].pointer]).toEqual([422, '/executorType'])
})

interface Answer {
  readonly isError?: boolean
  readonly content: readonly { readonly text: string }[]
  readonly structuredContent: Readonly<Record<string, unknown>>
}
const asAnswer = (result: unknown) => result as Answer
const meta = ['search_tools', 'describe_tool', 'call_tool']
const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

describe('a server', () => {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-code-mode-'))
  const env = { TOOLDEX_LEASE_MS: '2000' }
  const start = () => startServer({ limitedBecause: 'its subject is a crash', words: ['coreutils'], home, env })
  let server: TestServer
  let key: string
  beforeAll(async () => {
    await keepHistory({ home })
    server = await start()
    const made = await server.request('POST', '/keys', { body: { name: 'agent', scopes: ['call'], codeMode: true } })
    expect(made.body).toMatchObject({ codeMode: true })
    key = made.body.secret
    await registerScript(server, 'repeat_word', { script: 'echo "$1 $2"' })
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  const open = async (secret: string) => {
    const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${secret}` } },
    })
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(transport)
    onTestFinished(() => client.close())
    return client
  }
  const execute = (input: object, more: object = {}) =>
    server.request('POST', '/tools/tooldex:run_code/execute', { key, body: { input, wait: true, ...more } })
  const two = `const words = await Promise.all(['a', 'b'].map((word) => tools.repeat_word({ word })))
    console.log('two words'); return words.map((word: string) => word.trim())`

  it('lists run_code to keys with code mode only, and runs programs', async () => {
    const client = await open(key)
    expect(await namesOf(client)).toEqual([...meta, 'run_code'])
    const result = asAnswer(await client.callTool({ name: 'run_code', arguments: { code: two } }))
    expect(result.content[0]?.text).toBe('["a 1","b 1"]\n\n[console]\ntwo words')
    expect(result.structuredContent).toMatchObject({ output: ['a 1', 'b 1'], executionId: expect.any(String) })
    const called = { name: 'call_tool', arguments: { name: 'tooldex:run_code', arguments: { code: 'return 7' } } }
    expect(asAnswer(await client.callTool(called)).structuredContent).toMatchObject({ output: 7 })
    const wrong = asAnswer(await client.callTool({ name: 'run_code', arguments: { code: 'return 1 +' } }))
    expect([wrong.isError, wrong.content[0]?.text]).toEqual([true, expect.stringMatching(/not valid at 1:\d+: /)])
    const other = await open(server.key)
    expect(await namesOf(other)).toEqual(meta)
    expect(asAnswer(await other.callTool(called)).structuredContent).toMatchObject({ error: { code: 'FORBIDDEN' } })
  })

  it('allows programs to clients of a toolset with code mode', async () => {
    const filter = { names: ['repeat_word'] }
    for (const [name, codeMode] of [
      ['words', true],
      ['plain', false],
    ] as const)
      expect((await server.request('PUT', `/toolsets/${name}`, { body: { filter, codeMode } })).status).toBe(200)
    const codeOf = async (toolset: string) => {
      const headers = { 'x-tooldex-toolset': toolset }
      const code = `return [await tools.repeat_word({ word: 'x' }), await tools.coreutils_echo({ message: 'x' }).catch((e) => e.code)]`
      const options = { headers, body: { input: { code }, wait: true } }
      const { body } = await server.request('POST', '/tools/tooldex:run_code/execute', options)
      return body.outputData ?? body.code
    }
    expect([await codeOf('words'), await codeOf('plain')]).toEqual([['x 1\n', 'TOOL_NOT_FOUND'], 'FORBIDDEN'])
  })

  it('shows the calls of a program as a timeline', async () => {
    const { body } = await execute({ code: two })
    expect(body).toMatchObject({ status: 'SUCCESS', outputData: ['a 1', 'b 1'], logs: { stdout: 'two words\n' } })
    const children = await server.request('GET', `/executions?parent=${body.id}`)
    expect(children.body.items).toMatchObject([{ parentId: body.id }, { parentId: body.id }])
    const { stdout } = await runInline(['executions', 'get', body.id], {
      env: { TOOLDEX_URL: server.url, TOOLDEX_API_KEY: server.key },
    })
    expect(stdout).toMatch(/calls:\n.*Tool.*Execution/)
    for (const { id } of children.body.items) expect(stdout).toContain(id)
  })

  it('ends a program that no interrupt reaches, and goes on', async () => {
    const endless = await execute({ code: 'return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)', timeoutMs: 300 })
    expect(endless.body).toMatchObject({ status: 'TIMEOUT', errorCode: 'EXECUTION_TIMEOUT' })
    const deep = await execute({ code: 'return eval("(".repeat(100000))' })
    expect(deep.body).toMatchObject({ status: 'FAILED' })
    expect((await execute({ code: two })).body.status).toBe('SUCCESS')
  })

  it('P1, P2, P3: killed during a program, leaves every execution with one final state', async () => {
    const begun = join(server.scripts, 'begun')
    // It could be repeated, but not without its program.
    const annotations = { idempotentHint: true }
    await registerScript(server, 'lasts', { script: `: > '${begun}'; sleep 600`, annotations })
    const code = `await tools.lasts({ word: 'x' })`
    const { body } = await execute({ code, timeoutMs: 60_000 }, { wait: false })
    expect(body).toMatchObject({ status: 'RUNNING', parentId: null })
    await expect.poll(() => existsSync(begun), { timeout: 60_000 }).toBe(true)
    server.signal('SIGKILL')
    await server.ended
    server = await start()
    const states = async () => {
      const parent = await server.request('GET', `/executions/${body.id}`)
      const { items } = (await server.request('GET', `/executions?parent=${body.id}`)).body
      return [parent.body, ...items].map(({ toolName, status, errorCode }) => [toolName, status, errorCode])
    }
    await expect.poll(states, { timeout: 120_000 }).toEqual([
      ['tooldex:run_code', 'FAILED', 'WORKER_LOST'],
      ['lasts', 'FAILED', 'WORKER_LOST'],
    ])
    await server.stop()
    expect(await auditRuns({ home })).toEqual([])
  })
})

it('lists run_code over stdio with --code-mode, and runs programs without a database', async () => {
  const { client } = await connect(['--no-registry', '--code-mode', 'coreutils'])
  expect(await namesOf(client)).toEqual([...meta, 'run_code'])
  const code = `const text = await tools.coreutils_echo({ message: 'hi' }); return { text, found: (await search('print a message')).length > 0 }`
  const { structuredContent } = asAnswer(await client.callTool({ name: 'run_code', arguments: { code } }))
  expect(structuredContent).toMatchObject({ output: { text: 'hi\n', found: true } })
  expect(structuredContent).not.toHaveProperty('executionId')
  const { client: plain } = await connect(['--no-registry', 'coreutils'])
  expect(await namesOf(plain)).toEqual(meta)
})
