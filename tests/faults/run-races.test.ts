import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { onEachWorld } from '../support/each-world.ts'
import { expectProblem } from '../support/rest.ts'
import { tempFile, tempFolder, tempScript } from '../support/temp-folder.ts'
import { execute, registerCommand, TracedTools, untilEnded } from '../support/traced-tools.ts'
import { findProcesses, uniqueSeconds } from './processes.ts'
import { RawServer } from './raw-server.ts'

const times = <Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))
const say = (word: string, seconds = 0) =>
  tempScript('say', `#!/bin/sh\necho ${word} began\nsleep ${seconds}\necho ${word}\n`)

onEachWorld('a tool that changes while it is called', { words: ['--concurrency', '2'] }, (world) => {
  const patch = (name: string, body: object) => world.server().request('PATCH', `/tools/${name}`, { body })

  it('76: a change while it runs, or waits to run, changes neither version nor script of that run', async () => {
    const server = world.server()
    await registerCommand(server, 'changing', say('first', 1.5))
    const waited = execute(server, 'changing', {}, { wait: true })
    const queued = (await times(3, () => execute(server, 'changing', {}))).map(({ body }) => body.id)
    const accepted = async () => (await server.request('GET', '/executions?tool=changing')).body.items.length
    await expect.poll(accepted).toBe(4)
    expect((await patch('changing', { executorConfig: { baseCommand: say('second') } })).body.version).toBe(2)
    const after = await execute(server, 'changing', {}, { wait: true })
    const ended = [(await waited).body, ...(await Promise.all(queued.map((id) => untilEnded(server, id))))]
    for (const { version, outputData } of ended) expect([version, outputData]).toEqual([1, 'first began\nfirst\n'])
    expect([after.body.version, after.body.outputData]).toEqual([2, 'second began\nsecond\n'])
  })

  it('77: deleted while it runs: the run ends as ever and its record stays; one that waited is CANCELLED', async () => {
    const server = world.server()
    await registerCommand(server, 'doomed', say('doomed', 1.5))
    const running = await times(2, async () => (await execute(server, 'doomed', {})).body.id)
    const [queued] = await times(1, async () => (await execute(server, 'doomed', {})).body.id)
    await expect.poll(async () => (await world.server().request('GET', '/queue')).body.running).toBe(2)
    expect((await server.request('DELETE', '/tools/doomed')).status).toBe(200)
    for (const id of running)
      expect(await untilEnded(server, id)).toMatchObject({
        status: 'SUCCESS',
        toolId: null,
        toolName: 'doomed',
        version: 1,
        outputData: 'doomed began\ndoomed\n',
      })
    expect(await untilEnded(server, queued as string)).toMatchObject({
      status: 'CANCELLED',
      errorCode: 'TOOL_NOT_FOUND',
    })
    expectProblem(await execute(server, 'doomed', {}), 404, 'TOOL_NOT_FOUND')
  })
})

onEachWorld('cancelling', { words: ['--concurrency', '8'] }, (world) => {
  const cancel = (id: string, key?: string) =>
    world.server().request('POST', `/executions/${id}/cancel`, key === undefined ? {} : { key })

  it('80: cancelled in the moment it ends, 100 times: exactly one of the two happens', async () => {
    const server = world.server()
    const tools = new TracedTools(tempFolder())
    await tools.register(server, 'quick', { seconds: 0.15 })
    const states = new Map<string, number>()
    const since = performance.now()
    for (let at = 0; at < 4; at++)
      await untilEnded(server, (await execute(server, 'quick', { mark: `slow-${at}` })).body.id)
    // About how long it takes here and now: half of the time it is cancelled before, half of it after.
    const usualMs = Math.ceil((performance.now() - since) / 4)
    const race = async (at: number) => {
      const { body } = await execute(server, 'quick', { mark: `race-${at}` })
      await sleep(randomInt(0, 2 * usualMs))
      const asked = await cancel(body.id)
      const { status, errorCode } = await untilEnded(server, body.id)
      if (asked.status !== 200) expectProblem(asked, 409, 'ILLEGAL_STEP')
      else if (!['PENDING', 'RUNNING'].includes(asked.body.status)) expect(status).toBe(asked.body.status)
      expect(['SUCCESS', 'CANCELLED']).toContain(status)
      expect(errorCode).toBe(status === 'SUCCESS' ? null : 'EXECUTION_CANCELLED')
      if (status === 'SUCCESS') expect(tools.count(`race-${at}`)).toEqual({ begun: 1, ended: 1 })
      states.set(status, (states.get(status) ?? 0) + 1)
    }
    for (let start = 0; start < 100; start += 10) await times(10, (at) => race(start + at))
    // Both must have been seen, or nothing was tried.
    expect([...states.keys()].sort()).toEqual(['CANCELLED', 'SUCCESS'])
  })

  it('46: after the end, of another’s, or of what never was: refused, and nothing changes', async () => {
    const server = world.server()
    await registerCommand(server, 'done', 'true')
    const { body } = await execute(server, 'done', {}, { wait: true })
    expectProblem(await cancel(body.id), 409, 'ILLEGAL_STEP')
    expect((await server.request('GET', `/executions/${body.id}`)).body).toEqual(body)
    expectProblem(await cancel('8a1f7c1e-0000-4000-8000-000000000000'), 404, 'NOT_FOUND')
    expectProblem(await cancel('no-id'), 404, 'NOT_FOUND')
    const seconds = uniqueSeconds()
    await registerCommand(server, 'theirs', `sleep ${seconds}`)
    const running = (await execute(server, 'theirs', {})).body.id
    await expect.poll(() => findProcesses(seconds).length).toBeGreaterThan(0)
    const stranger = { name: 'stranger', scopes: ['admin'], workspace: 'elsewhere' }
    const { secret } = (await server.request('POST', '/keys', { body: stranger })).body
    expectProblem(await cancel(running, secret), 404, 'NOT_FOUND')
    expect((await server.request('GET', `/executions/${running}`)).body.status).toBe('RUNNING')
    expect((await cancel(running)).body).toMatchObject({ status: 'CANCELLED', errorCode: 'EXECUTION_CANCELLED' })
    expect(findProcesses(seconds)).toEqual([])
  })

  it('45: a client that goes away mid-call: its child is gone within a second, and the row is CANCELLED', async () => {
    const server = world.server()
    const seconds = uniqueSeconds()
    await registerCommand(server, 'left', `sleep ${seconds}`)
    for (const wait of ['body', 'header'] as const) {
      const leaving = new AbortController()
      const traceId = `left-${wait}`
      const call = fetch(`${server.url}/api/v1/tools/left/execute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ input: {}, wait: true, traceId }),
        signal: leaving.signal,
      }).catch(() => 'left')
      await expect.poll(() => findProcesses(`sleep ${seconds}`).length).toBeGreaterThan(0)
      leaving.abort()
      await expect.poll(() => findProcesses(`sleep ${seconds}`), { interval: 10 }).toEqual([])
      expect(await call).toBe('left')
      const { items } = (await server.request('GET', `/executions?trace=${traceId}`)).body
      expect(items).toHaveLength(1)
      expect(await untilEnded(server, items[0].id)).toMatchObject({
        status: 'CANCELLED',
        errorCode: 'EXECUTION_CANCELLED',
      })
    }
  })
})

onEachWorld('one key', { words: ['--concurrency', '2'] }, (world) => {
  it('34: twenty times at once makes one run and one answer, waited for or queued', async () => {
    const server = world.server()
    const tools = new TracedTools(tempFolder())
    await tools.register(server, 'keyed', { seconds: 0.5 })
    for (const wait of [true, false]) {
      const mark = `keyed-${wait}`
      const options = { wait, idempotencyKey: mark }
      const answers = await times(20, () => execute(server, 'keyed', { mark }, options))
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
      const { id } = answers[0]?.body ?? {}
      const ended = await untilEnded(server, id)
      expect(ended).toMatchObject({ status: 'SUCCESS', attempt: 1, outputData: `half of ${mark}\nwhole of ${mark}\n` })
      if (wait) for (const { status, body } of answers) expect([status, body]).toEqual([200, ended])
      expect((await execute(server, 'keyed', { mark }, { wait: true, idempotencyKey: mark })).body).toEqual(ended)
      expect(tools.count(mark)).toEqual({ begun: 1, ended: 1 })
      expectProblem(await execute(server, 'keyed', { mark: 'other' }, options), 422, 'KEY_REUSED')
    }
    expect(tools.count('other').begun).toBe(0)
  })

  it('80: cancelled while it waits for its turn, a call is answered at once and never begun', async () => {
    const server = world.server()
    const tools = new TracedTools(tempFolder())
    await tools.register(server, 'lined', { seconds: 4 })
    const busy = times(2, (at) => execute(server, 'lined', { mark: `front-${at}` }, { wait: true }))
    await expect.poll(() => tools.begun().length).toBe(2)
    const waiting = execute(server, 'lined', { mark: 'behind' }, { wait: true, traceId: 'behind' })
    const rows = async () => (await server.request('GET', '/executions?trace=behind')).body.items
    await expect.poll(async () => (await rows()).length).toBe(1)
    const [{ id, status }] = await rows()
    expect(status).toBe('PENDING')
    const asked = await server.request('POST', `/executions/${id}/cancel`)
    expect(asked.body.status).toBe('CANCELLED')
    expect((await waiting).body).toMatchObject({ id, status: 'CANCELLED', errorCode: 'EXECUTION_CANCELLED' })
    expect(findProcesses('front-').length).toBeGreaterThan(0)
    for (const { body } of await busy) expect(body.status).toBe('SUCCESS')
    expect(tools.count('behind').begun).toBe(0)
  })

  it('34: refused or joined while all slots are taken, no slot is lost; who only joined may leave', async () => {
    const server = world.server()
    const tools = new TracedTools(tempFolder())
    await tools.register(server, 'crowded', { seconds: 1 })
    const busy = times(2, (at) =>
      execute(server, 'crowded', { mark: `busy-${at}` }, { wait: true, idempotencyKey: `busy-${at}` }),
    )
    await expect.poll(() => tools.begun().length).toBe(2)
    const reused = await times(6, () =>
      execute(server, 'crowded', { mark: 'x' }, { wait: true, idempotencyKey: 'busy-0' }),
    )
    for (const answer of reused) expectProblem(answer, 422, 'KEY_REUSED')
    const leaving = new AbortController()
    const joined = fetch(`${server.url}/api/v1/tools/crowded/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ input: { mark: 'busy-1' }, wait: true, idempotencyKey: 'busy-1' }),
      signal: leaving.signal,
    }).catch(() => 'left')
    await sleep(200)
    leaving.abort()
    expect(await joined).toBe('left')
    for (const { body } of await busy) expect(body.status).toBe('SUCCESS')
    const after = await times(6, (at) =>
      execute(server, 'crowded', { mark: `after-${at}`, seconds: 0.5 }, { wait: true }),
    )
    for (const { body } of after) expect(body.status).toBe('SUCCESS')
    expect(tools.maxTogether()).toBe(2)
  })
})

it('45: over stdio, a call that is cancelled: its child is gone within a second, and nothing more is sent', async () => {
  const seconds = uniqueSeconds()
  const server = new RawServer([tempFile('t.yaml', `command: sleep ${seconds}\ntools: [{name: t, description: d}]\n`)])
  await server.initialize()
  server.callTool(7, 't').catch(() => {})
  await expect.poll(() => findProcesses(`sleep ${seconds}`).length).toBeGreaterThan(0)
  server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
  await expect.poll(() => findProcesses(`sleep ${seconds}`), { interval: 10 }).toEqual([])
  await sleep(300)
  expect(server.lines.filter((line) => JSON.parse(line).id === 7)).toEqual([])
  server.child.kill('SIGTERM')
  await server.ended
})
