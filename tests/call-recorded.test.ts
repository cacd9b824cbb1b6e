import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLocalClient } from '../src/operations/registry-client/registry-client.ts'
import { handleMetaTool } from '../src/surfaces/mcp/handle-call.ts'
import { copyDatabaseTo } from './support/migrated-database.ts'
import { openRecorded } from './support/open-recorded.ts'
import { registerScript, scriptTool } from './support/registered-tools.ts'
import { mainFile, runCli } from './support/run-cli.ts'
import { runInline } from './support/run-here.ts'
import { runUntilBegun } from './support/run-until-begun.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

const none = { TOOLDEX_URL: '', DATABASE_URL: '', TOOLDEX_API_KEY: '' }
const words = 'for i in $(seq "$2"); do echo "$1 $i"; echo "heard $i" >&2; sleep 0.6; done'
let server: TestServer

beforeAll(async () => {
  // Its scripts wait for files of the test.
  server = await startServer({ words: ['coreutils'], limitedBecause: 'its scripts wait for files of the test' })
  await registerScript(server, 'slow_words', { script: words })
  await registerScript(server, 'fails', { script: 'echo half; echo broken >&2; exit 3' })
  await registerScript(server, 'as_json', {
    script: `printf '{"word": "%s"}' "$1"`,
    outputSchema: { type: 'object', properties: { word: { type: 'string' } } },
  })
  await registerScript(server, 'counter', {
    script: `echo x >> '${server.home}/count'; wc -l < '${server.home}/count'`,
  })
})
afterAll(() => server?.stop())

const there = () => ({ ...none, TOOLDEX_HOME: server.home, TOOLDEX_API_KEY: server.key })
const call = (line: readonly string[], env = there()) => runInline(['call', ...line], { env })
const createActive = async (tool: Readonly<Record<string, unknown>>) => {
  expect(await server.request('POST', '/tools', { body: tool })).toMatchObject({ status: 201 })
  expect(await server.request('POST', `/tools/${tool.name}/activate`)).toMatchObject({ status: 200 })
}
/** Prints a line, and another one when the file is there. */
const gated = (goOn: string) => `echo "$1 1"; while [ ! -e '${goOn}' ]; do sleep 0.1; done; echo "$1 2"`
/** Calls such a tool, lets it go on when its first line is shown, and returns everything that was shown. */
async function callGated(tool: string, goOn: string, env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, [mainFile, 'call', tool, 'live'], { env: { ...process.env, ...env } })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  await expect.poll(() => out).toBe('live 1\n')
  writeFileSync(goOn, '')
  await ended
  return out
}
const newest = async (tool: string) => (await server.request('GET', `/executions?tool=${tool}&limit=1`)).body.items[0]

describe('tooldex call of a registered tool at a server', () => {
  it.each(['--server', 'TOOLDEX_URL', 'server.json'])(
    'finds the server by %s, and the run is recorded',
    async (way) => {
      const home = way === 'server.json' ? server.home : tempFolder()
      const env = { ...there(), TOOLDEX_HOME: home, TOOLDEX_URL: way === 'TOOLDEX_URL' ? server.url : '' }
      const line = [...(way === '--server' ? ['--server', server.url] : []), 'slow_words', `by ${way}`]
      expect(await call(line, env)).toEqual({ code: 0, stdout: `by ${way} 1\n`, stderr: 'heard 1\n' })
      const run = await newest('slow_words')
      expect(run).toMatchObject({ status: 'SUCCESS', version: 1, callerId: 'key:admin' })
      const { body } = await server.request('GET', `/executions/${run.id}`)
      expect(body).toMatchObject({ inputData: { word: `by ${way}`, count: 1 }, outputData: `by ${way} 1\n` })
    },
  )

  it("takes values without a flag in the order of the executor's args, of the schema for other kinds", async () => {
    const properties = { to: { type: 'string' }, source: { type: 'string' }, as: { type: 'string' } }
    const inputSchema = { type: 'object', properties, required: ['source', 'to', 'as'] }
    const args = [
      { name: 'as', positional: 2 },
      { name: 'source', positional: true },
      { name: 'to', positional: 1 },
    ]
    const script = 'echo "$1 $2 $3"'
    const program = scriptTool('copy_thing', { script }, tempFolder())
    const executorConfig = { ...program.executorConfig, args }
    await createActive({ ...program, inputSchema, executorConfig })
    expect(await call(['copy_thing', 'A.txt', 'B.txt', 'C'])).toMatchObject({ code: 0, stdout: 'A.txt B.txt C\n' })
    await createActive({
      ...program,
      name: 'copy_shell',
      inputSchema,
      executorType: 'shell',
      executorConfig: { command: ['echo', '{{to}}', '{{source}}', '{{as}}'] },
    })
    const plan = await call(['copy_shell', 'A.txt', 'B.txt', 'C', '--dry-run', '--json'])
    expect(JSON.parse(plan.stdout)).toMatchObject({
      plan: { argv: [expect.stringMatching(/echo$/), 'A.txt', 'B.txt', 'C'] },
    })
  })

  it('shows what it prints while it runs, each part once', async () => {
    const goOn = join(tempFolder(), 'go-on')
    await registerScript(server, 'gated', { script: gated(goOn) })
    expect(await callGated('gated', goOn, there())).toBe('live 1\nlive 2\n')
  })

  it('reports the exit code, the output and the reason of its end', async () => {
    expect(await call(['fails', 'x'])).toEqual({
      code: 1,
      stdout: 'half\n',
      stderr: 'broken\nCommand failed with exit code 3\n',
    })
    const { outcome: late, seconds } = await runUntilBegun(
      (limit) => call(['--timeout', String(limit), 'slow_words', 'late', '--count', '90']),
      ({ stdout }) => stdout !== '',
    )
    expect(late.code).toBe(5)
    expect(late.stdout).toMatch(/^late 1\n/)
    expect(await newest('slow_words')).toMatchObject({ status: 'TIMEOUT', timeoutMs: 1000 * seconds })
  })

  it('gives the same answer in JSON, and nothing beside it', async () => {
    const { stdout, stderr, code } = await call(['--json', 'fails', 'x'])
    expect([code, stderr]).toEqual([1, ''])
    const answer = JSON.parse(stdout)
    expect(answer).toMatchObject({
      tool: 'fails',
      outcome: { status: 'FAILED', errorCode: 'EXECUTION_FAILED', result: { stdout: 'half\n', exitCode: 3 } },
    })
    expect(answer.executionId).toBe((await newest('fails')).id)
  })

  it('prints once what a tool returns as JSON', async () => {
    expect(await call(['as_json', 'hey'])).toEqual({ code: 0, stdout: '{"word": "hey"}', stderr: '' })
  })

  it('makes flags from the schema, and types what was typed', async () => {
    const help = await call(['slow_words', '--help'])
    expect(help.stdout).toContain('--count <integer>')
    const wrong = await call(['slow_words', 'x', '--count', 'many'])
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('count must be an integer')
    const unknown = await call(['slow_words', '--cuont', '2', 'x'])
    expect(unknown.stderr).toContain("Did you mean 'count'?")
    const viaJson = await call(['--args', '{"word": "a", "count": 1}', 'slow_words'])
    expect(viaJson.stdout).toBe('a 1\n')
    const late = await call(['slow_words', '--args', '{"word": "b"}', '--count', '1', '--version', '1'])
    expect(late.stdout).toBe('b 1\n')
    const elsewhere = { ...there(), TOOLDEX_HOME: tempFolder() }
    const named = await call(['slow_words', 'x', '--count', '1', '--server', server.url], elsewhere)
    expect([named.code, named.stdout]).toEqual([0, 'x 1\n'])
    const bad = await call(['slow_words', 'x', '--timeout', 'soon'])
    expect([bad.code, bad.stderr]).toEqual([
      2,
      expect.stringContaining("--timeout 'soon' is invalid. Enter a number of seconds"),
    ])
  })

  it('runs nothing with --dry-run, at any position', async () => {
    const before = (await newest('slow_words')).id
    for (const line of [
      ['--dry-run', 'slow_words', 'x'],
      ['slow_words', 'x', '--dry-run'],
    ])
      expect((await call(line)).stdout).toMatch(/slow_words\.sh x 1\n.*for at most 30s/)
    expect((await newest('slow_words')).id).toBe(before)
  })

  it('runs the requested version', async () => {
    await registerScript(server, 'versioned', { script: 'echo one' })
    const { executorConfig } = scriptTool('versioned_two', { script: 'echo two' }, server.scripts)
    await server.request('PATCH', '/tools/versioned', { body: { executorConfig } })
    expect((await call(['versioned', 'x'])).stdout).toBe('two\n')
    expect((await call(['--version', '1', 'versioned', 'x'])).stdout).toBe('one\n')
    expect((await call(['versioned@1', 'x'])).stdout).toBe('one\n')
    const { code, stderr } = await call(['--version', '7', 'versioned', 'x'])
    expect(code).toBe(4)
    expect(stderr).toContain('versioned has no version 7')
  })

  it('makes a call once under an idempotency key', async () => {
    const line = ['--idempotency-key', 'once', 'counter', 'x']
    const [first, second] = [await call(line), await call(line)]
    expect(first).toEqual({ code: 0, stdout: expect.stringMatching(/^\s*1\n$/), stderr: '' })
    expect(second).toEqual(first)
    const other = await call(['--idempotency-key', 'once', 'counter', 'y'])
    expect(other.code).toBe(2)
    expect(other.stderr).toContain('was used for another call')
  })

  it('only queues with --queue', async () => {
    const { code, stdout, stderr } = await call(['--queue', 'slow_words', 'later'])
    expect(code).toBe(0)
    const id = stdout.trim()
    expect(stderr).toContain(`tooldex executions tail ${id}`)
    const tail = await runInline(['executions', 'tail', id], { env: there() })
    expect(tail).toMatchObject({ code: 0, stdout: 'later 1\n' })
  })

  it('cancels the run where it is interrupted', async () => {
    const child = spawn(process.execPath, [mainFile, 'call', 'slow_words', 'stop', '--count', '40'], {
      env: { ...process.env, ...there() },
    })
    const said = new Promise((resolve) => child.stdout.once('data', resolve))
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    await said
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    expect(await newest('slow_words')).toMatchObject({ status: 'CANCELLED', errorCode: 'EXECUTION_CANCELLED' })
  })

  it('warns of a deprecated tool, and refuses a disabled one', async () => {
    await registerScript(server, 'going', { script: 'echo still' })
    await server.request('POST', '/tools/going/deprecate')
    expect(await call(['going', 'x'])).toEqual({
      code: 0,
      stdout: 'still\n',
      stderr: 'going is deprecated and may be removed.\n',
    })
    await registerScript(server, 'gone', { script: 'echo no' })
    await server.request('POST', '/tools/gone/deactivate')
    expect(await call(['gone', 'x'])).toMatchObject({ code: 7, stdout: '' })
    expect((await call(['gone', 'x'])).stderr).toContain('gone is DISABLED and cannot be called')
  })

  it('names the variable of the key where it is missing', async () => {
    const { code, stderr } = await call(['slow_words', 'x'], { ...there(), TOOLDEX_API_KEY: '' })
    expect(code).toBe(6)
    expect(stderr).toContain('Set TOOLDEX_API_KEY')
  })
})

describe('tooldex call of a tool of a config', () => {
  it('runs here, in this folder, also where a server runs', async () => {
    const folder = tempFolder()
    tempFile('mine.txt', 'here\n', folder)
    const env = { ...process.env, ...there() }
    const line = ['call', 'coreutils_cat', 'mine.txt']
    expect(await runCli(line, { env, cwd: folder })).toMatchObject({ code: 0, stdout: 'here\n' })
    // Named, the server is asked, which has a folder of its own.
    const named = await runCli(['call', '--server', server.url, 'coreutils_cat', 'mine.txt'], { env, cwd: folder })
    expect(named.code).toBe(1)
    expect(await newest('coreutils_cat')).toMatchObject({ status: 'FAILED', toolId: null, version: null })
  })

  it('needs and creates no database, and reports options that need one', async () => {
    const env = { ...none, TOOLDEX_HOME: tempFolder() }
    expect((await call(['no_such_tool'], env as never)).code).toBe(4)
    const queued = await call(['--queue', 'coreutils_cat', 'x'], env as never)
    expect(queued.code).toBe(2)
    expect(queued.stderr).toContain('There is no server or database with a queue on this machine')
    expect(existsSync(join(env.TOOLDEX_HOME, 'db'))).toBe(false)
    const folder = tempFile('a.txt', 'a\n')
    expect(await call(['--timeout', '20', 'coreutils_cat', folder], env as never)).toMatchObject({
      code: 0,
      stdout: 'a\n',
    })
    const quick = await call(['--timeout', '0.4', '-c', sleeper(), 'sleeper_sleep', '20'], env as never)
    expect(quick.code).toBe(5)
  })

  it('refuses a server together with configs', async () => {
    const { code, stderr } = await call(['--server', server.url, '-c', 'coreutils', 'coreutils_cat', 'x'])
    expect(code).toBe(2)
    expect(stderr).toContain('--server cannot be combined with configs or --policy: a server has its own')
  })
})

const sleeper = () =>
  tempFile(
    'sleeper.yaml',
    'name: sleeper\ndescription: sleeps\ncommand: sleep\ntools:\n  - name: sleeper_sleep\n    description: sleeps\n    args:\n      - {name: seconds, positional: true}\n',
  )

describe('tooldex call on the local database', () => {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-own-'))
  const env = { ...none, TOOLDEX_HOME: home }
  beforeAll(() => copyDatabaseTo(home))
  afterAll(() => rmSync(home, { recursive: true, force: true }))

  it('runs the tool in this process, recorded, with what it prints shown at once', async () => {
    const goOn = join(tempFolder(), 'go-on')
    const file = tempFile('tool.json', JSON.stringify(scriptTool('own_words', { script: gated(goOn) }, home)))
    expect((await runCli(['tools', 'create', file], { env })).code).toBe(0)
    expect((await runCli(['tools', 'activate', 'own_words'], { env })).code).toBe(0)
    expect(await callGated('own_words', goOn, env)).toBe('live 1\nlive 2\n')
    const { stdout } = await runInline(['executions', 'list', '--json'], { env })
    expect(JSON.parse(stdout).items).toMatchObject([{ toolName: 'own_words', status: 'SUCCESS', callerId: 'owner' }])
    const failed = await call(['own_words', 'x', '--count', 'no'], env as never)
    expect(failed.code).toBe(2)
  })
})

it('waits for the queue of a server without a worker, until there is one', async () => {
  const idle = await startServer({
    words: ['--no-worker', 'coreutils'],
    limitedBecause: 'its scripts wait for files of the test',
  })
  try {
    await registerScript(idle, 'patient', { script: 'echo done' })
    const env = { ...none, TOOLDEX_HOME: idle.home, TOOLDEX_API_KEY: idle.key }
    const waiting = spawn(process.execPath, [mainFile, 'call', 'patient', 'x'], { env: { ...process.env, ...env } })
    let err = ''
    waiting.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
    })
    const ended = new Promise<number | null>((resolve) => waiting.on('close', resolve))
    const until = Date.now() + 60_000
    while (!err.includes('waits for a worker') && Date.now() < until) await sleep(50)
    expect(err).toContain('waits for a worker')
    waiting.kill('SIGINT')
    expect(await ended).toBe(130)
    expect((await idle.request('GET', '/executions')).body.items).toMatchObject([{ status: 'CANCELLED', attempt: 0 }])
  } finally {
    await idle.stop()
  }
})

describe('a waited call of a tool whose worker label no worker has', () => {
  it('is answered with the queued run, over HTTP, for models and over MCP', async () => {
    const { executorConfig } = scriptTool('lonely', { script: 'echo ran' }, server.scripts)
    const more = { executorConfig: { ...executorConfig, worker: 'gpu', timeoutMs: 300 } }
    await registerScript(server, 'lonely', { script: 'echo ran', more })
    const input = { word: 'x' }
    const said = 'No worker with the label gpu took the call in 5 s; it still waits.'
    const world = await openRecorded()
    await world.register('lonely', { script: 'echo ran', more })
    const called = { name: 'lonely', arguments: input }
    const [plain, model, mcp] = await Promise.all([
      server.request('POST', '/tools/lonely/execute', { body: { input, wait: true } }),
      server.request('POST', '/llm/tools/lonely/invoke', { body: { arguments: input } }),
      handleMetaTool('call_tool', called, { client: createLocalClient(world.context) }),
    ]).finally(() => world.close())
    const still = { status: 'PENDING', reason: 'queued', errorCode: 'STILL_QUEUED', errorMessage: said }
    expect(plain).toMatchObject({ status: 202, body: still })
    expect(model.body).toMatchObject({ success: false, error: { code: 'STILL_QUEUED', message: said } })
    expect(mcp).toMatchObject({ isError: true, structuredContent: { error: { code: 'STILL_QUEUED' } } })
    for (const id of [plain.body.id, model.body.executionId]) {
      const { body } = await server.request('GET', `/executions/${id}`)
      expect(body).toMatchObject({ status: 'PENDING', errorCode: null })
    }
    const { body } = await server.request('GET', '/executions?tool=lonely&status=PENDING')
    expect(body.items).toHaveLength(2)
    for (const { id } of body.items)
      expect((await server.request('POST', `/executions/${id}/cancel`)).body.status).toBe('CANCELLED')
  })
})

describe('a call that runs for longer than its caller waits', () => {
  it('is answered with its execution, goes on, and is not cancelled by its caller any more', async () => {
    const world = await openRecorded()
    const goOn = join(world.folder, 'go-on')
    await world.register('long', { script: gated(goOn) })
    const client = createLocalClient(world.context)
    const caller = new AbortController()
    const controls = { waitForApproval: false, onOutput: () => {}, onStatus: () => {}, signal: caller.signal }
    const answer = await client.call({ name: 'long', arguments: { word: 'x' } }, { ...controls, respondMs: 1 })
    expect(answer).toMatchObject({ waitsFor: 'result', tool: 'long' })
    caller.abort()
    writeFileSync(goOn, '')
    const { executionId: id } = answer as { executionId: string }
    const ended = async () => (await world.stores.executions.get('default', id))?.status
    await expect.poll(ended, { timeout: 60_000 }).toBe('SUCCESS')
    await world.close()
  })

  it('is cancelled by a caller that leaves before', async () => {
    const world = await openRecorded()
    await world.register('left', { script: gated(join(world.folder, 'never')) })
    const caller = new AbortController()
    const onOutput = () => caller.abort()
    const controls = { waitForApproval: false, onOutput, onStatus: () => {}, signal: caller.signal }
    const call = createLocalClient(world.context).call(
      { name: 'left', arguments: { word: 'x' } },
      { ...controls, respondMs: 600_000 },
    )
    expect(await call).toMatchObject({ outcome: { status: 'CANCELLED' } })
    await world.close()
  })
})
