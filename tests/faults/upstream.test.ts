import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import { startExecutor, stdioServer, toolOf } from '../upstreams/start-executor.ts'

const hostile = (mode = 'none', more: object = {}, file = '') => stdioServer('hostile-server.mjs', [mode, file], more)
const mebibyte = 1024 * 1024

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const until = async (holds: () => boolean, what: string): Promise<void> => {
  for (const end = Date.now() + 60_000; !holds(); await sleep(20)) if (Date.now() > end) throw new Error(`not ${what}`)
}

/** The most memory that was in use while something ran, beyond what was before it. */
async function memoryOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().rss
  let most = before
  const look = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 20)
  await work()
  clearInterval(look)
  return (most - before) / mebibyte
}

describe('fault 97: a server that crashes', () => {
  it('at its start fails each call with its last words, then is left alone, while others work', async () => {
    const { call, executor } = startExecutor({ bad: hostile('crash-at-spawn'), good: hostile() })
    const ends = []
    for (let n = 0; n < 4; n++) ends.push(await call('bad', 'echo'))
    expect(ends.map(({ status, errorCode }) => `${status} ${errorCode}`)).toEqual([
      'FAILED UPSTREAM_ERROR',
      'FAILED UPSTREAM_ERROR',
      'FAILED UPSTREAM_ERROR',
      'FAILED UPSTREAM_DOWN',
    ])
    expect(ends[0]?.errorMessage).toContain('ended with exit code 3; stderr: cannot open the database')
    expect(ends[3]?.errorMessage).toMatch(/next attempt is at \d{4}-\d\d-\d\dT[\d:.]+Z, in \d+ s/)
    expect(executor.readiness(toolOf('bad', 'echo')).state).toBe('upstream-down')
    expect(executor.readiness(toolOf('good', 'echo')).state).toBe('ready')
    expect((await call('good', 'echo', { said: 'fine' })).output).toBe('fine')
  })

  it.each(['crash-in-call', 'kill-in-call'])(
    'in the middle of a call (%s) is started again for the next',
    async (tool) => {
      const { call, pidOf } = startExecutor({ bad: hostile() })
      expect((await call('bad', 'echo')).output).toBe('echo')
      const first = pidOf('bad')
      const end = await call('bad', tool)
      expect(end).toMatchObject({ status: 'FAILED', errorCode: 'UPSTREAM_ERROR' })
      expect(end.errorMessage).toMatch(/bad ended (with exit code 7|with exit code 137|by SIGKILL)/)
      expect((await call('bad', 'echo')).output).toBe('echo')
      expect(pidOf('bad')).not.toBe(first)
    },
  )

  it('at each call is started again with longer pauses, then left alone, then tried again', async () => {
    const circuit = { pauseMs: 200, openMs: 300_000, maxMs: 900_000 }
    const { call } = startExecutor({ bad: hostile() }, { circuit })
    // The clock is moved, so that the machine may be as slow as it is.
    let movedMs = 0
    const { now } = Date
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + movedMs)
    onTestFinished(() => clock.mockRestore())
    const codes: (string | null)[] = []
    const started = performance.now()
    for (let n = 0; n < 4; n++) codes.push((await call('bad', 'crash-in-call')).errorCode)
    expect(codes).toEqual(['UPSTREAM_ERROR', 'UPSTREAM_ERROR', 'UPSTREAM_ERROR', 'UPSTREAM_DOWN'])
    // Two pauses, of 200 and 400 ms, lie before the second and the third start.
    expect(performance.now() - started).toBeGreaterThan(600)
    movedMs += 300_000
    expect((await call('bad', 'crash-in-call')).errorCode).toBe('UPSTREAM_ERROR')
    expect((await call('bad', 'echo')).errorCode).toBe('UPSTREAM_DOWN')
    movedMs += 600_000
    expect((await call('bad', 'echo')).output).toBe('echo')
    expect((await call('bad', 'echo')).output).toBe('echo')
  })

  it('at the discovery request is initialized with the older revision', async () => {
    const { call } = startExecutor({ old: hostile('exit-when-asked') })
    expect((await call('old', 'echo', { said: 'here' })).output).toBe('here')
  })
})

describe('fault 98: a server that hangs', () => {
  it('at its start costs a call its deadline, and is killed', async () => {
    const file = `${tempFolder()}/asked`
    const { call, executor } = startExecutor({ bad: hostile('hang-at-connect', { connectTimeoutMs: 4000 }, file) })
    expect(await call('bad', 'echo', {}, 500)).toMatchObject({ status: 'TIMEOUT', errorCode: 'EXECUTION_TIMEOUT' })
    const waited = await call('bad', 'echo', {}, 60_000)
    expect(waited).toMatchObject({ status: 'FAILED', errorCode: 'UPSTREAM_ERROR' })
    expect(waited.errorMessage).toContain('did not respond within')
    expect(readFileSync(file, 'utf8')).toContain('server/discover')
    expect(executor.upstreams.of('bad')?.connection).toBeUndefined()
  })

  it('at its list is only a warning when a tool is registered', async () => {
    const { executor } = startExecutor({ bad: hostile('hang-at-list') })
    const problems = await executor.check?.({ server: 'bad', tool: 'echo' }, '/executorConfig')
    expect(problems).toMatchObject([{ severity: 'warning', pointer: '/executorConfig/server' }])
    expect(problems?.[0]?.message).toContain('did not respond within 10 s')
  })

  it('in a call costs that call its deadline; one that answers nothing at all is killed, whatever it ignores', async () => {
    const { call, pidOf } = startExecutor({ slow: hostile(), deaf: hostile('deaf') }, { pingMs: 2000 })
    expect((await call('slow', 'echo')).output).toBe('echo')
    const pid = pidOf('slow')
    expect(await call('slow', 'hang', {}, 500)).toMatchObject({ status: 'TIMEOUT' })
    expect((await call('slow', 'echo')).output).toBe('echo')
    // Longer than an unanswered ping is waited for.
    await sleep(2500)
    expect(pidOf('slow')).toBe(pid)
    expect((await call('deaf', 'echo')).output).toBe('echo')
    const deaf = pidOf('deaf') as number
    expect(await call('deaf', 'hang', {}, 500)).toMatchObject({ status: 'TIMEOUT' })
    await until(() => !isAlive(deaf), 'killed')
  })

  it('and is closed leaves nothing behind', async () => {
    const { call, pidOf, executor } = startExecutor({ deaf: hostile('deaf') })
    const hung = call('deaf', 'hang', {}, 60_000)
    await until(() => pidOf('deaf') !== null, 'started')
    const deaf = pidOf('deaf') as number
    await executor.close?.()
    expect(isAlive(deaf)).toBe(false)
    expect((await hung).status).toBe('FAILED')
  })
})

describe('fault 99: a server that floods', () => {
  it('stderr is drained without keeping it', async () => {
    const { call } = startExecutor({ bad: hostile('stderr') })
    const grown = await memoryOf(async () => {
      for (const end = Date.now() + 2000; Date.now() < end; ) expect((await call('bad', 'echo')).output).toBe('echo')
    })
    expect(grown).toBeLessThan(150)
  })

  it('with a line of a gigabyte is cut off at the limit', async () => {
    const { call, pidOf } = startExecutor({ bad: hostile() })
    await call('bad', 'echo')
    const pid = pidOf('bad') as number
    const grown = await memoryOf(async () => {
      const end = await call('bad', 'line')
      expect(end).toMatchObject({ status: 'FAILED', errorCode: 'OUTPUT_LIMIT' })
      expect(end.errorMessage).toContain('sent a message of more than 16777216 bytes')
    })
    expect(grown).toBeLessThan(150)
    await until(() => !isAlive(pid), 'ended')
    expect((await call('bad', 'echo')).output).toBe('echo')
  })

  it('with notices is cut off, while other servers answer', async () => {
    const { call } = startExecutor({ bad: hostile(), good: hostile() })
    const answers: unknown[] = []
    const grown = await memoryOf(async () => {
      const flooded = call('bad', 'notices')
      for (let n = 0; n < 5; n++) answers.push((await call('good', 'echo')).output)
      const end = await flooded
      expect(end).toMatchObject({ status: 'FAILED', errorCode: 'UPSTREAM_ERROR' })
      expect(end.errorMessage).toContain('too many unsolicited messages')
    })
    expect(answers).toEqual(Array(5).fill('echo'))
    expect(grown).toBeLessThan(150)
  })
})

describe('fault 100: answers that are none', () => {
  it.each([
    ['malformed', 'after all', 6],
    ['wrong-id', 'right', 3],
    ['twice', 'first', 0],
  ])('%s: the valid response is used, the others are ignored and counted', async (tool, output, ignored) => {
    const { call, executor } = startExecutor({ bad: hostile() })
    const end = await call('bad', tool)
    expect(end).toMatchObject({ status: 'SUCCESS', output })
    if (ignored > 0) expect(end.result.stderr).toBe(`${ignored} messages of bad were ignored: they match no request\n`)
    const counted = executor.upstreams.of('bad')?.connection?.ignored
    await until(() => (counted?.malformed ?? 0) + (counted?.unexpected ?? 0) === Math.max(ignored, 1), 'counted')
    expect((await call('bad', 'echo')).output).toBe('echo')
  })

  it('a response after the end of its call is ignored', async () => {
    const { call, executor } = startExecutor({ bad: hostile() })
    expect((await call('bad', 'echo')).output).toBe('echo')
    const counted = executor.upstreams.of('bad')?.connection?.ignored
    expect((await call('bad', 'late', {}, 500)).status).toBe('TIMEOUT')
    await until(() => counted?.unexpected === 1, 'counted')
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 300)
    expect((await call('bad', 'late', {}, 120_000, { signal: stop.signal })).status).toBe('CANCELLED')
    await until(() => counted?.unexpected === 2, 'counted')
  })

  it('a result that is none is a failure with a name', async () => {
    const { call } = startExecutor({ bad: hostile() })
    expect(await call('bad', 'bad-result')).toMatchObject({ status: 'FAILED', errorCode: 'UPSTREAM_ERROR' })
    expect((await call('bad', 'echo')).output).toBe('echo')
  })
})

describe('fault 104: a server that requires a sign-in', () => {
  it('and names an address of this network for it gets no request sent there', async () => {
    const hosts: string[] = []
    const onConnect = (message: unknown) => {
      hosts.push((message as { connectParams: { hostname: string } }).connectParams.hostname)
    }
    subscribe('undici:client:beforeConnect', onConnect)
    onTestFinished(() => void unsubscribe('undici:client:beforeConnect', onConnect))
    for (const address of ['http://169.254.169.254/latest/meta-data', 'https://10.255.255.1/metadata']) {
      const challenge = `Bearer resource_metadata="${address}", scope="all"`
      const locked = createServer((_, response) => response.writeHead(401, { 'www-authenticate': challenge }).end())
      await once(locked.listen(0, '127.0.0.1'), 'listening')
      onTestFinished(() => void locked.close())
      const url = `http://127.0.0.1:${(locked.address() as AddressInfo).port}/mcp`
      const { call, executor } = startExecutor({ locked: { url, allowPrivate: true } })
      expect((await call('locked', 'echo')).status).toBe('FAILED')
      expect(executor.readiness(toolOf('locked', 'echo')).state).toBe('needs-credentials')
    }
    expect(new Set(hosts)).toEqual(new Set(['127.0.0.1']))
  })
})

describe('fault 106: schemas of a server', () => {
  it('with patterns that never end or references elsewhere are neither compiled nor fetched', async () => {
    const { call, executor } = startExecutor({ bad: hostile() })
    expect(await executor.check?.({ server: 'bad', tool: 'echo' }, '')).toEqual([])
    const said = `${'a'.repeat(40)}!`
    expect((await call('bad', 'echo', { said })).output).toBe(said)
  })
})

describe('fault 107: results without measure', () => {
  it('a million items are more than one message may have; half of them are cut', async () => {
    const { call } = startExecutor({ bad: hostile() })
    expect(await call('bad', 'items')).toMatchObject({ status: 'FAILED', errorCode: 'OUTPUT_LIMIT' })
    const cut = await call('bad', 'half-items')
    expect(cut.status).toBe('SUCCESS')
    expect(cut.result.truncated).toBe(true)
    expect(String(cut.output).split('\n')).toHaveLength(1000)
  })

  it('large pictures are left out, long texts cut, and links are only data', async () => {
    const { call } = startExecutor({ bad: hostile() })
    const picture = await call('bad', 'base64')
    expect(picture.output).toEqual([
      { type: 'image', mimeType: 'image/png', omitted: '8388608 characters of base64' },
      'big',
    ])
    expect(picture.result.truncated).toBe(true)
    const text = await call('bad', 'text')
    expect(String(text.output).length).toBeLessThan(4.1 * mebibyte)
    expect(text.result.truncated).toBe(true)
    expect((await call('bad', 'link')).output).toEqual([
      { type: 'resource_link', uri: 'javascript:alert(1)', name: 'x' },
    ])
  })

  it('a structure that nests too deeply is not handed on', async () => {
    const { call } = startExecutor({ bad: hostile() })
    const end = await call('bad', 'deep')
    expect([end.output, end.result.truncated]).toEqual([null, true])
  })
})

describe('fault 108: a server that asks', () => {
  it('for a model, a person or our folders is refused', async () => {
    const { call } = startExecutor({ bad: hostile() })
    const answers = JSON.parse(String((await call('bad', 'asks')).output))
    expect(answers).toEqual([
      ['q1', -32601],
      ['q2', -32601],
      ['q3', -32601],
    ])
  })
})

describe('fault 105: the key of the caller', () => {
  it('is in nothing that goes to a server', async () => {
    const file = `${tempFolder()}/asked`
    process.env.TOOLDEX_API_KEY = 'key-of-the-caller-0123456789'
    const { call } = startExecutor({ up: hostile('none', {}, file) })
    expect((await call('up', 'echo', { said: 'x' })).output).toBe('x')
    delete process.env.TOOLDEX_API_KEY
    expect(existsSync(file)).toBe(true)
    expect(readFileSync(file, 'utf8')).not.toContain('key-of-the-caller')
  })
})
