import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../src/surfaces/client/index.ts'
import { needs } from './support/needs.ts'
import { noBrowser, openBrowser } from './support/open-browser.ts'
import { registerScript, scriptTool } from './support/registered-tools.ts'
import { projectRoot } from './support/run-cli.ts'
import { startProxy } from './support/start-proxy.ts'
import { startServer, type TestServer } from './support/start-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
  const { executorConfig } = scriptTool('stays', { script: 'sleep 300' }, server.scripts)
  const more = { executorConfig: { ...executorConfig, timeoutMs: 300_000 } }
  await registerScript(server, 'stays', { script: 'sleep 300', more })
})
afterAll(() => server?.stop())

const follow = (id: string, key: string, signal: AbortSignal) =>
  fetch(`${server.url}/api/v1/executions/${id}/events`, { headers: { authorization: `Bearer ${key}` }, signal })

/** Follows a run to its end; gives what was told, in order, and what came with the end. */
async function hear(id: string, headers: Record<string, string> = {}) {
  const authorization = `Bearer ${server.key}`
  const answer = await fetch(`${server.url}/api/v1/executions/${id}/events`, { headers: { authorization, ...headers } })
  const events = (await answer.text()).split('\n\n').flatMap((block) => {
    const [, event, data] = /^event: (\w+)\n(?:id: \d+\n)?data: (.*)$/.exec(block) ?? []
    return event === undefined ? [] : [{ event, ...JSON.parse(data ?? '') }]
  })
  const outputs = events.filter(({ event }) => event === 'output')
  const of = (stream: string) =>
    outputs
      .filter((each) => each.stream === stream)
      .map(({ text }) => text)
      .join('')
  return {
    kinds: events.map(({ event }) => event),
    stdout: of('stdout'),
    stderr: of('stderr'),
    last: outputs.at(-1)?.seq,
  }
}

it('followers receive all output before the end event, from the start or later', async () => {
  const last = 'echo first; sleep 1.2; echo last; echo bad >&2; exit 3'
  await registerScript(server, 'prints', { script: last })
  await registerScript(server, 'quick', { script: 'echo now; echo then >&2' })
  const begin = async (tool: string) =>
    (await server.request('POST', `/tools/${tool}/execute`, { body: { input: { word: 'x' } } })).body.id
  const id = await begin('prints')
  const heard = await hear(id)
  expect(heard).toMatchObject({ stdout: 'first\nlast\n', stderr: 'bad\n' })
  expect(heard.kinds.indexOf('end')).toBe(heard.kinds.length - 1)
  expect(await hear(id)).toMatchObject({ stdout: 'first\nlast\n', stderr: 'bad\n' })
  expect(await hear(id, { 'last-event-id': String(heard.last) })).toMatchObject({ kinds: ['end'] })
  const quick = await begin('quick')
  await expect.poll(async () => (await server.request('GET', `/executions/${quick}`)).body.status).toBe('SUCCESS')
  const late = await hear(quick)
  expect(late).toMatchObject({ kinds: ['output', 'output', 'end'], stdout: 'now\n', stderr: 'then\n' })
  expect((await hear(quick, { 'last-event-id': String(late.last) })).kinds).toEqual(['end'])
})

it('a caller has at most fifty event streams, and other callers have their own', async () => {
  const { body: run } = await server.request('POST', '/tools/stays/execute', { body: { input: { word: 'x' } } })
  const made = await server.request('POST', '/keys', { body: { name: 'other', scopes: ['read'] } })
  const leaving = new AbortController()
  const ask = (key: string) => follow(run.id, key, leaving.signal)
  const answers = await Promise.all(Array.from({ length: 60 }, () => ask(server.key)))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(50)
  expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  expect((await ask(made.body.secret)).status).toBe(200)
  // A run that is not there takes no place, and whoever leaves gives theirs back.
  expect((await follow('00000000-0000-7000-8000-000000000000', made.body.secret, leaving.signal)).status).toBe(404)
  leaving.abort()
  const next = async () => {
    const again = new AbortController()
    const { status } = await follow(run.id, server.key, again.signal)
    again.abort()
    return status
  }
  await expect.poll(next).toBe(200)
  expect((await server.request('POST', `/executions/${run.id}/cancel`)).status).toBe(200)
})

it('the client restores a lost event stream and receives every output once', async () => {
  const script = 'i=0; while [ $i -lt 30 ]; do echo line $i; sleep 0.1; i=$((i+1)); done'
  await registerScript(server, 'counts', { script })
  const proxy = await startProxy(Number(new URL(server.url).port))
  try {
    const client = createClient({ url: `http://127.0.0.1:${proxy.port}`, key: server.key })
    const begun = await client.tools.execute({ idOrName: 'counts', input: { word: 'x' } })
    let text = ''
    let cuts = 0
    for await (const event of client.follow('id' in begun ? begun.id : '')) {
      if (event.event === 'output') text += event.text
      if (event.event === 'output' && cuts++ < 2) proxy.cut()
      if (event.event === 'end') expect(event.execution.status).toBe('SUCCESS')
    }
    expect(cuts).toBeGreaterThan(0)
    expect(text).toBe(Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join(''))
    await expect(client.follow('00000000-0000-4000-8000-000000000000')[Symbol.asyncIterator]().next()).rejects.toThrow(
      /Unknown execution/,
    )
  } finally {
    await proxy.stop()
  }
})

describe('the built client', () => {
  const smoke = join(projectRoot, 'tests', 'support', 'client-smoke.mjs')
  const expected = { found: true, texts: 'hello\n', status: 'SUCCESS', code: 'TOOL_NOT_FOUND', aborted: 'AbortError' }
  beforeAll(() => registerScript(server, 'greets', { script: 'echo hello' }))

  const folders = [join(projectRoot, 'node_modules', '.bin'), ...(process.env.PATH ?? '').split(delimiter)]
  const find = (name: string) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  for (const [runtime, words] of [
    ['node', []],
    ['deno', ['run', '--allow-all', '--no-config']],
    ['bun', ['run']],
  ] as const) {
    const program = runtime === 'node' ? process.execPath : find(runtime)
    needs(program !== undefined, `${runtime} is not installed`)(`works in ${runtime}`, async () => {
      const args = [...words, smoke, server.url, server.key, 'greets']
      const { stdout } = await promisify(execFile)(String(program), args, { timeout: 120_000 })
      expect(JSON.parse(stdout)).toEqual(expected)
    })
  }

  it.skipIf(noBrowser !== '')(`works in a browser, without Node modules, in less than 8 KB${noBrowser}`, async () => {
    const text = `export { createClient, TooldexError } from '${join(projectRoot, 'dist/surfaces/client/index.js')}'`
    const options = { bundle: true, format: 'iife', minify: true, platform: 'browser', write: false } as const
    const stdin = { contents: text, resolveDir: projectRoot }
    const alone = await build({ ...options, stdin })
    expect(gzipSync(alone.outputFiles[0]?.contents ?? '').length).toBeLessThan(8000)
    const { outputFiles } = await build({ ...options, entryPoints: [smoke], globalName: 'smoke' })
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      await page.goto(`${server.url}/docs`)
      const call = `smoke.useClient(${JSON.stringify(server.url)}, ${JSON.stringify(server.key)}, 'greets')`
      expect(await page.evaluate(`${outputFiles[0]?.text}; ${call}`)).toEqual(expected)
    } finally {
      await browser.close()
    }
  })
})
