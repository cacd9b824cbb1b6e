import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerScript, scriptTool } from './support/registered-tools.ts'
import { mainFile } from './support/run-cli.ts'
import { runInline } from './support/run-here.ts'
import { startProxy } from './support/start-proxy.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { tempFolder } from './support/temp-folder.ts'

let server: TestServer
beforeAll(async () => {
  // Its scripts wait for files of the test.
  server = await startServer({ words: ['coreutils'], limitedBecause: 'its scripts wait for files of the test' })
  await registerScript(server, 'slow_words', {
    script: 'for i in $(seq "$2"); do echo "$1 $i"; echo "heard $i" >&2; sleep 0.5; done',
  })
  await registerScript(server, 'fails', { script: 'echo half; exit 3' })
  await registerScript(server, 'many_lines', { script: 'seq 1 40000' })
  await registerScript(server, 'asks_first', { script: 'echo "ran $1"', annotations: { requiresApproval: true } })
})
afterAll(() => server?.stop())

const env = () => ({ TOOLDEX_URL: '', DATABASE_URL: '', TOOLDEX_HOME: server.home, TOOLDEX_API_KEY: server.key })
const executions = (...words: string[]) => runInline(['executions', ...words], { env: env() })
const execute = async (tool: string, input: object, more: object = {}) =>
  (await server.request('POST', `/tools/${tool}/execute`, { body: { input, ...more } })).body

/** Registers a tool that prints a second line after the returned function was called. */
async function registerHeld(name: string): Promise<() => void> {
  const goOn = join(tempFolder(), 'go-on')
  const script = `echo "$1 1"; until [ -e '${goOn}' ]; do sleep 0.05; done; echo "$1 2"`
  const { executorConfig } = scriptTool(name, { script }, server.scripts)
  await registerScript(server, name, { script, more: { executorConfig: { ...executorConfig, timeoutMs: 170_000 } } })
  return () => writeFileSync(goOn, '')
}

/** A command that goes on until it is stopped. */
function start(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const options = { env: { ...process.env, ...env(), ...more } }
  const child = spawn(process.execPath, [mainFile, 'executions', ...words], options)
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const until = async (what: string | RegExp, said = () => out) => {
    for (const late = Date.now() + 60_000; Date.now() < late; await sleep(50))
      if (typeof what === 'string' ? said().includes(what) : what.test(said())) return
    throw new Error(`did not say ${what}: ${said()}`)
  }
  return { child, ended, until, out: () => out, err: () => err }
}

describe('tooldex executions', () => {
  it('lists and reads runs, for people and for programs', async () => {
    const run = await execute('slow_words', { word: 'read me' }, { wait: true, traceId: 'trace-1' })
    const failed = await execute('fails', { word: 'x' }, { wait: true })
    const { stdout } = await executions('list')
    expect(stdout).toMatch(/Execution .*When.*Tool.*State.*Caller/)
    expect(stdout).toMatch(new RegExp(`${failed.id}.*fails@1.*FAILED.*key:admin.*EXECUTION_FAILED`))
    expect(stdout.endsWith('\n')).toBe(true)
    const only = await executions('list', '--tool', 'slow_words', '--trace', 'trace-1', '--status', 'SUCCESS', '--json')
    expect(JSON.parse(only.stdout).items.map(({ id }: { id: string }) => id)).toEqual([run.id])
    const shown = (await executions('get', run.id)).stdout
    expect(shown).toContain('tool:        slow_words@1\n')
    expect(shown).toContain('input:       {"word":"read me","count":1}\n')
    expect(shown).toContain('output:\n  read me 1\nstderr:\n  heard 1\n')
    expect(JSON.parse((await executions('get', run.id, '--json')).stdout)).toMatchObject({
      id: run.id,
      status: 'SUCCESS',
    })
    expect((await executions('get', 'nonsense')).code).toBe(4)
  })

  it('pages through the list', async () => {
    for (let count = 0; count < 3; count++) await execute('fails', { word: 'x' }, { wait: true })
    const { stdout } = await executions('list', '--tool', 'fails', '--limit', '2')
    const [, cursor = ''] = /more: --cursor (\S+)/.exec(stdout) ?? []
    const next = await executions('list', '--tool', 'fails', '--limit', '2', '--cursor', cursor)
    expect(next.stdout.match(/fails@1/g)?.length).toBe(2)
  })

  it('shows the queue and the workers', async () => {
    const run = await execute('slow_words', { word: 'q', count: 60 })
    await expect.poll(async () => (await server.request('GET', `/executions/${run.id}`)).body.status).toBe('RUNNING')
    const { stdout } = await executions('queue')
    expect(stdout).toMatch(/^0 queued, 0 waiting for approval, 1 running\n\nWorker +State +Running .*\n/)
    expect(stdout).toMatch(/\n\S+:\d+:\w+ +server, busy +1 of 16 +.*cli.*\n$/)
    expect(JSON.parse((await executions('queue', '--json')).stdout)).toMatchObject({ running: 1 })
    expect((await executions('cancel', run.id)).stdout).toBe(`${run.id} is CANCELLED: Command was cancelled\n`)
    expect(await executions('cancel', run.id)).toMatchObject({ code: 7, stdout: '' })
  })

  it('reads a large output by its handle: pages, lines that match', async () => {
    const run = await execute('many_lines', { word: 'x' }, { wait: true })
    const shown = (await executions('get', run.id)).stdout
    const [, handle = ''] = /tooldex executions result (\S+)\)/.exec(shown) ?? []
    const page = await executions('result', handle, '--offset', '20000', '--limit', '2')
    expect(page.stdout).toBe('20001\n20002\n(20002 of 40000; more: --offset 20002)\n')
    const found = await executions('result', handle, '--grep', '^3999.$')
    expect(found.stdout).toBe(Array.from({ length: 10 }, (_, i) => `${39989 + i}: ${39990 + i}\n`).join(''))
    const call = await runInline(['call', 'many_lines', 'x'], { env: env() })
    expect(call.stdout.startsWith('1\n2\n')).toBe(true)
    expect(call.stderr).toMatch(/\d+ bytes in all; read the rest with: tooldex executions result \S+\n/)
  })

  it('approves, refuses with a note', async () => {
    const [yes, no] = [await execute('asks_first', { word: 'y' }), await execute('asks_first', { word: 'n' })]
    expect((await executions('list', '--status', 'PENDING')).stdout).toMatch(
      new RegExp(`${yes.id}.*PENDING \\(approval\\)`),
    )
    expect((await executions('approve', yes.id)).stdout).toBe(`${yes.id} is PENDING\n`)
    expect(await executions('tail', yes.id)).toMatchObject({ code: 0, stdout: 'ran y\n' })
    expect((await executions('refuse', no.id, '--note', 'not today')).stdout).toBe(
      `${no.id} is CANCELLED: The call was refused: not today\n`,
    )
    expect(await executions('approve', no.id)).toMatchObject({ code: 7 })
  })
})

describe('tooldex executions tail', () => {
  it('ends with an error when its key is revoked, and shows nothing that came later', async () => {
    const goOn = await registerHeld('held_revoked')
    const run = await execute('held_revoked', { word: 'live' })
    const { body: key } = await server.request('POST', '/keys', { body: { name: 'tailer', scopes: ['read'] } })
    const tail = start(['tail', run.id], { TOOLDEX_API_KEY: key.secret })
    await tail.until('live 1')
    expect((await server.request('DELETE', `/keys/${key.id}`)).status).toBe(200)
    expect(await tail.ended).toBe(6)
    goOn()
    expect([tail.out(), tail.err()]).toEqual(['live 1\n', expect.stringContaining('revoked')])
  })

  it('shows what one run prints while it runs, and ends as it ends', async () => {
    const goOn = await registerHeld('held_words')
    const run = await execute('held_words', { word: 'live' })
    const tail = start(['tail', run.id])
    await tail.until('live 1')
    expect((await server.request('GET', `/executions/${run.id}`)).body.status).toBe('RUNNING')
    goOn()
    expect(await tail.ended).toBe(0)
    expect(tail.out()).toBe('live 1\nlive 2\n')
    const failed = await execute('fails', { word: 'x' }, { wait: true })
    expect(await executions('tail', failed.id)).toMatchObject({ code: 1, stdout: 'half\n' })
    expect((await executions('tail', '00000000-0000-4000-8000-000000000000')).code).toBe(4)
  })

  it('gives programs one event a line', async () => {
    const run = await execute('slow_words', { word: 'json', count: 3 })
    const { stdout, code } = await executions('tail', run.id, '--json')
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(code).toBe(0)
    expect(events.at(-1)).toMatchObject({ event: 'end', execution: { id: run.id, status: 'SUCCESS' } })
    const seqs = events.flatMap((event) => (event.event === 'output' ? [event.seq] : []))
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b))
  })

  it('shows the latest runs and, followed, those that come and how they end', async () => {
    const before = await execute('fails', { word: 'x' }, { wait: true })
    const once = await executions('tail', '-n', '1')
    expect(once.stdout).toMatch(new RegExp(`^\\S+ \\S+  ${before.id}  FAILED .*EXECUTION_FAILED\\n$`))
    const goOn = await registerHeld('followed_words')
    const tail = start(['tail', '--follow', '--tool', 'followed_words', '-n', '1'])
    const run = await execute('followed_words', { word: 'new' })
    await tail.until(new RegExp(`${run.id}  RUNNING`))
    goOn()
    await tail.until(new RegExp(`${run.id}  SUCCESS`))
    await execute('fails', { word: 'unseen' }, { wait: true })
    const again = await execute('followed_words', { word: 'again' }, { wait: true })
    await tail.until(new RegExp(`${again.id}  SUCCESS`))
    tail.child.kill('SIGINT')
    expect(await tail.ended).toBe(0)
    expect(tail.out()).not.toContain('fails@1')
    expect(tail.out().match(new RegExp(`${run.id}  SUCCESS`, 'g'))?.length).toBe(1)
  })

  it('reports once that the server is unavailable, and once that it is back', async () => {
    const proxy = await startProxy(Number(new URL(server.url).port))
    try {
      const before = await execute('fails', { word: 'x' }, { wait: true })
      const tail = start(['tail', '--follow', '--tool', 'fails', '--server', `http://127.0.0.1:${proxy.port}`])
      await tail.until(before.id)
      proxy.resetAfter = () => true
      await tail.until('does not answer', tail.err)
      const missed = await execute('fails', { word: 'y' }, { wait: true })
      await sleep(2500)
      proxy.resetAfter = undefined
      await tail.until(missed.id)
      tail.child.kill('SIGINT')
      expect(await tail.ended).toBe(0)
      expect(tail.err()).toBe(
        `The server at http://127.0.0.1:${proxy.port} does not answer. Retrying every second; stop with Ctrl+C.\nThe server is available again.\n`,
      )
    } finally {
      await proxy.stop()
    }
  })

  it('goes on where it was when the connection to the server breaks', async () => {
    const proxy = await startProxy(Number(new URL(server.url).port))
    try {
      const run = await execute('slow_words', { word: 'cut', count: 6 })
      const tail = start(['tail', run.id, '--server', `http://127.0.0.1:${proxy.port}`])
      await tail.until('cut 2')
      proxy.cut()
      expect(await tail.ended).toBe(0)
      expect(tail.out()).toBe('cut 1\ncut 2\ncut 3\ncut 4\ncut 5\ncut 6\n')
    } finally {
      await proxy.stop()
    }
  })
})
