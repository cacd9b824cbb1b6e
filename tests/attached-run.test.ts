import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, openConnection, revisions } from './support/connect.ts'
import { eventually } from './support/keys.ts'
import { draft } from './support/rest.ts'
import { runCli } from './support/run-cli.ts'
import { startServer, type TestServer, testKey } from './support/start-server.ts'
import { lastingFolder, tempFile, tempFolder } from './support/temp-folder.ts'

const wait = { timeout: 60_000 }
const home = lastingFolder()
let server: TestServer

const python = (name: string, script: string, more: object = {}) =>
  draft(name, {
    executorType: 'python',
    executorConfig: {},
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    scriptContent: script,
    ...more,
  })

async function add(fields: Record<string, unknown>): Promise<void> {
  const made = await server.request('POST', '/tools', { body: fields })
  expect(made.status, made.text).toBe(201)
  const active = await server.request('POST', `/tools/${String(fields.name)}/activate`)
  expect(active.status, active.text).toBe(200)
}

const start = () => startServer({ home, words: ['--allow-limited', 'coreutils'] })
beforeAll(async () => {
  server = await start()
  const count = 'def main(arguments):\n    return {"words": len(arguments["text"].split())}\n'
  await add(python('count_zebras', count, { description: 'Counts the zebras of a herd.' }))
  const slow = 'import time\ndef main(arguments):\n    print("begun", flush=True)\n    time.sleep(60)\n'
  await add(python('graze', slow, { description: 'Grazes for a minute.', executorConfig: { timeoutMs: 90_000 } }))
  await add(python('flood', 'def main(arguments):\n    return ["x" * 90] * 2000\n'))
  await add(python('stumble', 'def main(arguments):\n    raise ValueError("bad boom")\n'))
  await eventually(
    () => server.request('GET', '/llm/tools'),
    ({ text }) => text.includes('stumble'),
  )
})
afterAll(() => server?.stop())

/** Environments in which `tooldex run` finds the server. */
const here = () => ({ TOOLDEX_HOME: home, TOOLDEX_API_KEY: testKey, TOOLDEX_URL: '', DATABASE_URL: '' })
const alone = (folder = tempFolder()) => ({ ...here(), TOOLDEX_HOME: folder, TOOLDEX_API_KEY: '' })

interface Answer {
  readonly text: string
  readonly isError: boolean
  // biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
  readonly data: any
}
async function ask(client: Client, name: string, given: object, options?: object): Promise<Answer> {
  const { content, structuredContent, isError } = await client.callTool(
    { name, arguments: { ...given } },
    options as never,
  )
  const [first] = content as { type: string; text: string }[]
  return { text: first?.text ?? '', data: structuredContent, isError: isError === true }
}
const call = (client: Client, name: string, given: object = {}, options?: object) =>
  ask(client, 'call_tool', { name, arguments: given }, options)
const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)
const executions = async (tool: string) => (await server.request('GET', `/executions?tool=${tool}`)).body.items

describe('tooldex run beside a server', () => {
  let shared: Awaited<ReturnType<typeof openConnection>>
  beforeAll(async () => {
    shared = await openConnection([], { env: here() })
  })
  afterAll(() => shared?.client.close())

  it.each(revisions)('finds, describes and calls the registered tools of the server (%s)', async (revision) => {
    const { client, stderr } = await connect([], { env: here(), revision })
    expect(await names(client)).toEqual(['search_tools', 'describe_tool', 'call_tool'])
    const found = await ask(client, 'search_tools', { query: 'count the zebras' })
    expect(found.data.results[0]).toMatchObject({ name: 'count_zebras' })
    const overview = await ask(client, 'search_tools', {})
    expect(overview.data.summary.map(({ name }: { name: string }) => name)).toEqual(['coreutils', 'registry'])
    const described = await ask(client, 'describe_tool', { ids: ['count_zebras'] })
    expect(described.text).toContain('"text"')
    const before = (await executions('count_zebras')).length
    const called = await call(client, 'count_zebras', { text: 'one two three' })
    expect(called).toMatchObject({ isError: false, data: { output: { words: 3 } } })
    const recorded = await executions('count_zebras')
    expect(recorded).toHaveLength(before + 1)
    expect(recorded[0]).toMatchObject({ id: called.data.executionId, status: 'SUCCESS', callerId: 'key:admin' })
    const dry = await ask(client, 'call_tool', { name: 'count_zebras', arguments: { text: 'x' }, dryRun: true })
    expect(dry.data.plan.script).toBeDefined()
    expect(stderr()).toBe('')
  })

  it('answers wrong calls as without a server', async () => {
    const { client } = shared
    const nameless = await ask(client, 'call_tool', {})
    expect(nameless).toMatchObject({ isError: true, data: { error: { code: 'INPUT_INVALID' } } })
    expect(nameless.text).toContain('name')
    const unknown = await call(client, 'count_zebra')
    expect(unknown).toMatchObject({ isError: true, data: { error: { code: 'TOOL_NOT_FOUND' } } })
    expect(unknown.text).toContain("'count_zebras'")
    const wrong = await call(client, 'count_zebras', { text: 5 })
    expect(wrong).toMatchObject({ isError: true, data: { error: { code: 'INPUT_INVALID' } } })
  })

  it('lists every tool of the server with --classic, pinned ones with --pin, and notices changes', async () => {
    const { client } = await connect(['--classic'], { env: here(), revision: '2025-11-25' })
    let changes = 0
    client.setNotificationHandler('notifications/tools/list_changed', () => void changes++)
    const listed = await names(client)
    expect(listed.slice(0, 4)).toEqual(['count_zebras', 'flood', 'graze', 'stumble'])
    expect(listed).toContain('coreutils_wc')
    const { data } = await ask(client, 'count_zebras', { text: 'a b' })
    expect(data.output).toEqual({ words: 2 })
    const pinned = await connect(['--pin', 'count_zebras', '--pin', 'came_late'], { env: here() })
    expect(await names(pinned.client)).toEqual(['search_tools', 'describe_tool', 'call_tool', 'count_zebras'])
    expect(pinned.stderr()).toContain('--pin came_late: tool not found')
    await add(draft('came_late'))
    await expect.poll(() => changes, wait).toBeGreaterThan(0)
    expect(await names(client)).toContain('came_late')
    await expect.poll(() => names(pinned.client), wait).toContain('came_late')
  })

  it('returns the reason of a failed call', async () => {
    const { client } = shared
    const failed = await call(client, 'stumble')
    expect(failed).toMatchObject({ isError: true, data: { status: 'FAILED', errorCode: 'EXECUTION_FAILED' } })
    expect(failed.text).toContain('ValueError: bad boom')
    expect(failed.data.errorMessage).toContain('ValueError: bad boom')
  })

  it('reads large results by handle, and as resources', async () => {
    const { client } = shared
    const { data } = await call(client, 'flood', { text: '' })
    const { handle } = data.stored
    const page = await call(client, 'tooldex:read_result', { handle, path: '$[0:2]' })
    expect(page.data.output.items).toEqual(['x'.repeat(90), 'x'.repeat(90)])
    const { contents } = await client.readResource({ uri: `tooldex://results/${handle}` })
    expect(JSON.parse((contents[0] as { text: string }).text)).toHaveLength(2000)
  })

  it('reports progress, and cancels the run with its request', async () => {
    const { client } = shared
    const stop = new AbortController()
    const ended = call(client, 'graze', {}, { signal: stop.signal, onprogress: () => stop.abort() })
    await expect(ended).rejects.toThrow()
    await expect.poll(async () => (await executions('graze'))[0].status, wait).toBe('CANCELLED')
  })

  it('serves the configs named beside them, which run here and come first', async () => {
    const config = `name: mine
command: echo
tools:
  - { name: greet_herd, description: Greets the herd of zebras., command: hello }
  - { name: count_zebras, description: Counts the zebras of this machine., command: local }
`
    const { client } = await connect([tempFile('mine.yaml', config)], { env: here() })
    const found = await ask(client, 'search_tools', { query: 'zebras', level: 'summary' })
    const hits = found.data.results.map(({ id, callAs }: { id: string; callAs?: string }) => [id, callAs])
    expect(hits).toContainEqual(['mine:greet_herd', undefined])
    expect(hits).toContainEqual(['mine:count_zebras', undefined])
    expect(hits).toContainEqual(['count_zebras', 'registry:count_zebras'])
    expect((await call(client, 'greet_herd')).text).toBe('hello')
    expect((await call(client, 'count_zebras')).text).toBe('local')
    const there = await call(client, 'registry:count_zebras', { text: 'a b' })
    expect(there.data.output).toEqual({ words: 2 })
    expect(await call(client, 'flood', {})).toMatchObject({ isError: false })
    const single = await ask(client, 'describe_tool', { ids: 'flood' })
    expect(single.data?.tools, single.text).toMatchObject([{ name: 'flood' }])
    const both = await ask(client, 'describe_tool', { ids: ['greet_herd', 'flood', 'nothing_like_it'] })
    expect(both.data.tools.map(({ name }: { name: string }) => name)).toEqual(['greet_herd', 'flood'])
    expect(both.data.unknown).toMatchObject([{ id: 'nothing_like_it' }])
    const wrong = await call(client, 'greet_herb')
    expect(wrong.text).toContain("'greet_herd'")
  })

  it('pages through configs and the server with one cursor', async () => {
    const { client } = await connect(['git'], { env: here() })
    const page = async (cursor?: string) => {
      const { data } = await ask(client, 'search_tools', { query: 'show', level: 'line', limit: 4, cursor })
      return data as { results: { id: string }[]; nextCursor?: string }
    }
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const { results, nextCursor } = await page(cursor)
      seen.push(...results.map(({ id }) => id))
      cursor = nextCursor
    } while (cursor !== undefined)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.some((id) => id.startsWith('git:'))).toBe(true)
    expect(seen.some((id) => id.startsWith('coreutils:'))).toBe(true)
  })

  it('obeys the policies of the server', async () => {
    const tools = { count_zebras: { args: { text: { pattern: '[a-z ]+' } } } }
    const policy = { default: 'disabled', tools, callers: ['limited'] }
    const put = await server.request('PUT', '/policies/limited', { body: policy })
    expect(put.status, put.text).toBe(200)
    const made = await server.request('POST', '/keys', { body: { name: 'limited', scopes: ['read', 'call'] } })
    const { client } = await connect(['--server', server.url, '--classic'], {
      env: { ...alone(), TOOLDEX_API_KEY: made.body.secret },
    })
    await expect.poll(() => names(client), wait).toEqual(['count_zebras'])
    expect((await ask(client, 'count_zebras', { text: 'abc' })).isError).toBe(false)
    const refused = await ask(client, 'count_zebras', { text: 'ABC' })
    expect(refused).toMatchObject({ isError: true, data: { error: { code: 'POLICY_REFUSED' } } })
  })

  it('keeps to the configs with --no-registry, with a policy, and without a key', async () => {
    for (const words of [['--no-registry'], ['--policy', tempFile('policy.yaml', 'default: enabled\ntools: {}\n')]]) {
      const { client } = await connect([...words, 'coreutils'], { env: here() })
      const found = await ask(client, 'search_tools', { query: 'count_zebras' })
      expect(found.text).not.toContain('count_zebras')
    }
    const { client, stderr } = await connect(['coreutils'], { env: { ...here(), TOOLDEX_API_KEY: '' } })
    const keyless = await ask(client, 'search_tools', { query: 'count_zebras' })
    expect(keyless.text).not.toContain('count_zebras:')
    const note = `(The server at ${server.url} needs a key. Its tools are missing. Set TOOLDEX_API_KEY`
    expect(keyless.text).toContain(note)
    expect((await ask(client, 'search_tools', {})).text).toContain(note)
    const wrongKey = await connect(['coreutils'], { env: { ...here(), TOOLDEX_API_KEY: 'wrong' } })
    const refused = await ask(wrongKey.client, 'search_tools', { query: 'count words' })
    expect(refused.text).toContain(`(The server at ${server.url}: The key is unknown`)
    expect(stderr()).toContain('Set TOOLDEX_API_KEY to one of its keys')
    const both = await runCli(['run', '--no-registry', '--server', server.url, 'git'], { env: here() })
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('contradict each other') })
    const none = await runCli(['run'], { env: alone() })
    expect(none).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('There are no tools to serve') })
  })
})

it('reports that the server is unavailable, and continues when it is back at another address', async () => {
  const { client } = await connect([], { env: here() })
  const beside = await connect(['coreutils'], { env: here() })
  const words = { text: 'one two' }
  expect((await call(client, 'count_zebras', words)).data.output).toEqual({ words: 2 })
  expect((await ask(beside.client, 'search_tools', { query: 'count_zebras' })).text).toContain('count_zebras')
  // Longer than the usual limit of the client, which a restart of the server may reach.
  const running = call(client, 'graze', {}, { timeout: 200_000 })
  await expect.poll(async () => (await executions('graze'))[0].status, wait).toBe('RUNNING')
  server.signal('SIGKILL')
  await server.ended
  const away = await call(client, 'count_zebras', words)
  expect(away).toMatchObject({ isError: true, data: { error: { code: 'UNAVAILABLE', retryable: true } } })
  expect(away.text).toContain('does not answer')
  // Tools of configs here work on, and a search says what is missing.
  expect((await call(beside.client, 'coreutils_echo', { message: 'still here' })).text).toBe('still here')
  const found = await ask(beside.client, 'search_tools', { query: 'echo' })
  expect(found.data.results[0].name).toBe('coreutils_echo')
  expect(found.text).toContain('Its tools are missing.')
  server = await start()
  expect((await call(client, 'count_zebras', words)).data.output).toEqual({ words: 2 })
  // The run that was lost with the server is answered as what it is.
  expect(await running).toMatchObject({ isError: true })
}, 240_000)

it('opens the registry in the database here where no server runs, and lets others use it too', async () => {
  await server.stop()
  writeFileSync(
    join(home, 'configs', 'kept.yaml'),
    'name: kept\ncommand: echo\ntools:\n  - { name: kept_say, description: Says kept., command: kept }\n',
  )
  const { client } = await connect([], { env: { ...here(), TOOLDEX_ALLOW_LIMITED: '1' } })
  const found = await ask(client, 'search_tools', { query: 'count the zebras' })
  expect(found.data.results[0]).toMatchObject({ name: 'count_zebras' })
  const called = await call(client, 'count_zebras', { text: 'a b c d' })
  expect(called.data.output).toEqual({ words: 4 })
  expect((await call(client, 'kept_say')).data.stdout).toBe('kept\n')
  // Another process waits until the database is free, and finds the run in it.
  const { stdout, stderr } = await runCli(['executions', 'get', called.data.executionId, '--json'], { env: here() })
  expect(JSON.parse(stdout || '{}'), stderr).toMatchObject({ toolName: 'count_zebras', status: 'SUCCESS' })
  expect((await call(client, 'count_zebras', { text: 'a' })).data.output).toEqual({ words: 1 })
  // Commands see the same tools as with a server.
  const search = await runCli(['search', 'count', 'the', 'zebras', '--json'], { env: here() })
  expect(JSON.parse(search.stdout).results[0], search.stderr).toMatchObject({ name: 'count_zebras' })
  expect((await runCli(['describe', 'count_zebras', 'git_status'], { env: here() })).stdout).toContain('git_status')
  const list = await runCli(['list'], { env: here() })
  expect(list.stdout).toMatch(/git[\s\S]*registered in the local database - \d+ tool\(s\)[\s\S]*count_zebras/)
}, 240_000)
