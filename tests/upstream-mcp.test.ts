import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TooldexError } from '../src/base/errors.ts'
import { JsonText } from '../src/base/json-text.ts'
import { Semaphore } from '../src/base/semaphore.ts'
import { createRunner } from '../src/runs/create-runner.ts'
import { redactValues } from '../src/secrets/redact-values.ts'
import { startExecutor, startHttp, stdioServer, toolOf } from './upstreams/start-executor.ts'

const ways = [
  ['stdio', 'both', '2026-07-28'],
  ['stdio', 'older', '2025-11-25'],
  ['http', 'both', '2026-07-28'],
  ['http', 'older', '2025-11-25'],
] as const

describe.each(ways)('a server of the official package over %s, %s revisions', (way, revisions, spoken) => {
  const start = async (more: object = {}) => {
    if (way === 'stdio') return startExecutor({ up: stdioServer('official-server.mjs', ['stdio', revisions], more) })
    const { url, said } = await startHttp(revisions)
    return { ...startExecutor({ up: { url, allowPrivate: true, ...more } }), said, url }
  }

  it('returns long results whole: structure stays text, and text is JSON where the tool has an output schema', async () => {
    const { call, executor } = await start()
    const items = Array.from({ length: 20_000 }, (_, id) => ({ id, text: 'é' }))
    expect((await call('up', 'many', { count: 20_000 })).output).toEqual(new JsonText(JSON.stringify({ items })))
    const text = await call('up', 'many', { count: 20_000, asText: true })
    expect(text).toMatchObject({ status: 'SUCCESS', output: JSON.stringify({ items }) })
    const tool = toolOf('up', 'many', { outputSchema: { type: 'object' } })
    const job = { tool, input: { count: 20_000, asText: true }, timeoutMs: 150_000 }
    const read = await executor.prepare(job).run({})
    expect(read.output).toEqual(new JsonText(JSON.stringify({ items })))
    expect((await call('up', 'many', { count: 1 })).output).toEqual({ items: items.slice(0, 1) })
  })

  it('is spoken to in its own revision; structure, text, pictures and failures come through', async () => {
    const { call, executor } = await start()
    const added = await call('up', 'add', { a: 1, b: 2 })
    expect(added).toMatchObject({ status: 'SUCCESS', output: { sum: 3 }, errorCode: null })
    expect(executor.upstreams.of('up')?.connection?.revision).toBe(spoken)
    expect((await call('up', 'say', { text: 'hä' })).output).toBe('hä')
    expect((await call('up', 'picture')).output).toEqual([
      'here',
      { type: 'image', mimeType: 'image/png', data: 'cGl4ZWxz' },
    ])
    const failed = await call('up', 'fail', { text: 'do it' })
    expect(failed).toMatchObject({ status: 'FAILED', errorCode: 'UPSTREAM_ERROR', output: 'cannot do it' })
    expect(failed.errorMessage).toBe('fail of up failed: cannot do it')
    const unknown = await call('up', 'nowhere')
    expect(unknown).toMatchObject({ status: 'FAILED', errorCode: 'UPSTREAM_ERROR' })
    expect(unknown.errorMessage).toContain('nowhere')
    expect(added.isolation).toBe(way === 'stdio' ? 'limited' : 'none')
  })

  it('passes progress on, and cancelling', async () => {
    const { call } = await start()
    const [steps, lines]: [number[], string[]] = [[], []]
    const onOutput = (_: string, text: string) => lines.push(text)
    const counted = await call('up', 'count', { steps: 3, everyMs: 300 }, 150_000, {
      onProgress: (n) => steps.push(n),
      onOutput,
    })
    expect(counted).toMatchObject({ status: 'SUCCESS', output: 'counted' })
    expect(lines.join('')).toBe('progress 1 of 3: step 1\nprogress 2 of 3: step 2\nprogress 3 of 3: step 3\n')
    expect(counted.result.stderr).toBe(lines.join(''))
    expect(steps).toEqual([...steps].sort())
    expect(steps.length).toBeGreaterThan(0)
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 300)
    const cancelled = await call('up', 'count', { steps: 100, everyMs: 100 }, 150_000, { signal: stop.signal })
    expect(cancelled).toMatchObject({ status: 'CANCELLED', errorCode: 'EXECUTION_CANCELLED' })
    expect((await call('up', 'say', { text: 'still here' })).output).toBe('still here')
  })

  it('keeps one connection for concurrent calls, and closes it when idle', async () => {
    const { call, executor } = await start({ idleMs: 300 })
    const sums = await Promise.all(Array.from({ length: 20 }, (_, n) => call('up', 'add', { a: n, b: n })))
    expect(sums.map(({ output }) => (output as { sum: number }).sum)).toEqual(
      Array.from({ length: 20 }, (_, n) => 2 * n),
    )
    const first = executor.upstreams.of('up')?.connection
    expect(first).toBeDefined()
    await expect.poll(() => first?.ended).toBe(true)
    expect((await call('up', 'add', { a: 1, b: 1 })).output).toEqual({ sum: 2 })
  })

  it('reports an unknown tool or server at registration', async () => {
    const { executor } = await start()
    const check = (config: object) => executor.check?.(config, '/executorConfig')
    expect(await check({ server: 'up', tool: 'add' })).toEqual([])
    expect(await check({ server: 'up', tool: 'ad' })).toMatchObject([
      {
        severity: 'error',
        pointer: '/executorConfig/tool',
        message: "the MCP server 'up' has no tool 'ad'. Did you mean 'add'?",
      },
    ])
    expect(await check({ server: 'upp', tool: 'add' })).toMatchObject([
      { severity: 'error', pointer: '/executorConfig/server' },
    ])
  })
})

describe('a server over HTTP', () => {
  it('that has forgotten the session is greeted again, and the call made', async () => {
    const { url } = await startHttp('older')
    const { call } = startExecutor({ up: { url, allowPrivate: true } })
    expect((await call('up', 'say', { text: 'one' })).output).toBe('one')
    await fetch(url.replace('/mcp', '/forget'))
    expect((await call('up', 'say', { text: 'two' })).output).toBe('two')
  })

  it('gets the headers of its definition, and none of the caller', async () => {
    const { url, said } = await startHttp('both')
    const headers = { authorization: 'Bearer secret:crm', 'x-plain': 'as it is' }
    const { call } = startExecutor({ up: { url, allowPrivate: true, headers } })
    expect((await call('up', 'say', { text: 'hello' })).status).toBe('SUCCESS')
    const lines = () => said().split('\n').slice(0, -1)
    await expect.poll(() => lines().length).toBeGreaterThan(1)
    const asked = lines().map((line) => JSON.parse(line))
    for (const each of asked)
      expect(each.headers).toMatchObject({ authorization: 'Bearer value-of-secret:crm', 'x-plain': 'as it is' })
    expect(said()).not.toContain('cookie')
  })

  it('at a private address is not contacted, unless its definition allows it', async () => {
    const { url, said } = await startHttp('both')
    const { call } = startExecutor({ up: { url }, named: { url: url.replace('127.0.0.1', 'localhost') } })
    for (const name of ['up', 'named'])
      expect(await call(name, 'say', { text: 'x' })).toMatchObject({ status: 'FAILED', errorCode: 'ADDRESS_REFUSED' })
    expect(said()).toBe('')
  })

  it('that is not there fails each call, and then is left alone for a while', async () => {
    const { call, executor } = startExecutor({ up: { url: 'http://127.0.0.1:9/mcp', allowPrivate: true } })
    const codes = []
    for (let n = 0; n < 4; n++) codes.push((await call('up', 'say')).errorCode)
    expect(codes).toEqual(['UPSTREAM_ERROR', 'UPSTREAM_ERROR', 'UPSTREAM_ERROR', 'UPSTREAM_DOWN'])
    expect(executor.readiness(toolOf('up', 'say')).state).toBe('upstream-down')
    expect(await executor.check?.({ server: 'up', tool: 'say' }, '')).toMatchObject([
      { severity: 'warning', pointer: '/server' },
    ])
  })

  it('that was there before is reported with its last success and the usual duration of its calls', async () => {
    const { url, kill } = await startHttp('both')
    const { call, executor } = startExecutor({ up: { url, allowPrivate: true } })
    expect((await call('up', 'say', { text: 'x' })).status).toBe('SUCCESS')
    expect(executor.readiness(toolOf('up', 'say'))).toEqual({ state: 'ready' })
    kill()
    await expect
      .poll(async () => (await call('up', 'say', { text: 'x' })).errorCode, { timeout: 60_000 })
      .toBe('UPSTREAM_DOWN')
    expect(executor.readiness(toolOf('up', 'say'))).toMatchObject({
      state: 'upstream-down',
      lastSuccessAt: expect.stringMatching(/^\d{4}-.*Z$/),
      p95Ms: expect.any(Number),
    })
  })

  it('that rejects its credentials, or has none, needs credentials', async () => {
    const locked = createServer((_, response) => response.writeHead(401).end())
    await new Promise<void>((resolve) => locked.listen(0, '127.0.0.1', () => resolve()))
    onTestFinished(() => void locked.close())
    const url = `http://127.0.0.1:${(locked.address() as AddressInfo).port}/mcp`
    const resolve = async (reference: string) => {
      throw new TooldexError('SECRET_UNAVAILABLE', `There is no secret '${reference}'.`)
    }
    const servers = {
      locked: { url, allowPrivate: true },
      missing: { url, allowPrivate: true, headers: { authorization: 'Bearer secret:crm' } },
    }
    const { call, executor } = startExecutor(servers, { secrets: { resolve, redact: redactValues(4).redact } })
    const [rejected, none] = [await call('locked', 'say'), await call('missing', 'say')]
    expect([rejected.status, none.status]).toEqual(['FAILED', 'FAILED'])
    expect(rejected.errorMessage).toContain('HTTP 401; for a sign-in, add it as a source: tooldex add locked URL')
    expect(executor.readiness(toolOf('locked', 'say'))).toMatchObject({ state: 'needs-credentials', url })
    expect(executor.readiness(toolOf('missing', 'say'))).toMatchObject({
      state: 'needs-credentials',
      reason: expect.stringContaining("There is no secret 'secret:crm'"),
      url: '/admin?tab=secrets',
    })
  })
})

describe('a server of this machine', () => {
  it('starts with a small environment of its own, and the secrets of its definition', async () => {
    process.env.TOOLDEX_TEST_SECRET = 'not for upstreams'
    process.env.SOME_OTHER = 'not inherited'
    onTestFinished(() => {
      delete process.env.TOOLDEX_TEST_SECRET
      delete process.env.SOME_OTHER
    })
    const env = { PLAIN: 'value', CRM_TOKEN: 'secret:crm' }
    const { call } = startExecutor({ up: stdioServer('official-server.mjs', [], { env }) })
    const got = JSON.parse(String((await call('up', 'environment')).output))
    expect(got).toMatchObject({ PLAIN: 'value', CRM_TOKEN: 'value-of-secret:crm', PATH: process.env.PATH })
    expect(Object.keys(got)).not.toEqual(expect.arrayContaining(['TOOLDEX_TEST_SECRET']))
    expect(Object.keys(got)).not.toContain('SOME_OTHER')
    expect(Object.keys(got).filter((name) => name.startsWith('TOOLDEX_') && name !== 'TOOLDEX_RUN_ID')).toEqual([])
  })

  it('whose output echoes a secret shows none', async () => {
    const { redact, add } = redactValues(4)
    const resolve = async (reference: string) => {
      add(reference, `value-of-${reference}`)
      return `value-of-${reference}`
    }
    const secrets = { resolve, redact }
    const env = { CRM_TOKEN: 'secret:crm' }
    const { executor } = startExecutor({ up: stdioServer('official-server.mjs', [], { env }) }, { secrets })
    const slots = new Semaphore({ slots: 1, waiting: 1 })
    const redactorFor = () => redactValues(4).redact
    const runner = createRunner({ executors: { mcp: executor }, slots, checkBoundValues: async () => {}, redactorFor })
    const call = (server: string, tool: string, input = {}) => runner.run(toolOf(server, tool), input)
    const got = await call('up', 'environment')
    expect(JSON.stringify(got)).not.toContain('value-of')
    expect(JSON.stringify(got)).toContain('[redacted secret:crm]')
    expect(JSON.stringify(await call('up', 'say', { text: 'value-of-secret:crm' }))).not.toContain('value-of')
  })

  it('that cannot be started fails with the reason', async () => {
    const { call } = startExecutor({ up: { command: 'no-such-program' } })
    expect(await call('up', 'say')).toMatchObject({ status: 'FAILED', errorCode: 'COMMAND_NOT_FOUND' })
  })
})

describe('a dry run', () => {
  it('shows the planned call, and starts nothing', async () => {
    const { executor, pidOf } = startExecutor({ up: stdioServer('official-server.mjs') })
    expect(await executor.prepare({ tool: toolOf('up', 'add'), input: { a: 1 } }).plan()).toEqual({
      kind: 'mcp',
      isolation: 'limited',
      timeoutMs: 60_000,
      upstream: { server: 'up', tool: 'add', arguments: { a: 1 } },
    })
    expect(executor.readiness(toolOf('up', 'add')).state).toBe('ready')
    expect(pidOf('up')).toBe(null)
    await expect(executor.prepare({ tool: toolOf('nowhere', 'add'), input: {} }).plan()).rejects.toThrow(
      "no MCP server 'nowhere'",
    )
  })
})
