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

  it('76: a change of a tool changes neither version nor script of its running and queued runs', async () => {
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

  it('77: a tool deleted while it runs: the run ends as usual and its record stays; a queued one is CANCELLED', async () => {
    const server = world.server()
    const tools = new TracedTools(tempFolder())
    await tools.registerHeld(server, 'doomed')
    const queue = async (mark: string) => (await execute(server, 'doomed', { mark })).body.id as string
    const running = await times(2, (at) => queue(`running-${at}`))
    await expect.poll(() => tools.begun().length).toBe(2)
    const queued = await queue('queued')
    expect((await server.request('DELETE', '/tools/doomed')).status).toBe(200)
    tools.release()
    for (const [at, id] of running.entries())
      expect(await untilEnded(server, id)).toMatchObject({
        status: 'SUCCESS',
        toolId: null,
        toolName: 'doomed',
        version: 1,
        outputData: `running-${at}\n`,
      })
    expect(await untilEnded(server, queued)).toMatchObject({ status: 'CANCELLED', errorCode: 'TOOL_NOT_FOUND' })
    expectProblem(await execute(server, 'doomed', {}), 404, 'TOOL_NOT_FOUND')
  })
})

onEachWorld('cancelling', { words: ['--concurrency', '8'] }, (world) => {
  const cancel = (id: string, key?: string) =>
    world.server().request('POST', `/executions/${id}/cancel`, key === undefined ? {} : { key })

  it('80: a cancellation that races with the end of a run, 100 times: exactly one of the two happens', async () => {
    const server = world.server()
    const tools = new TracedTools(tempFolder())
    await tools.register(server, 'quick', { seconds: 0.15 })
    const states = new Map<string, number>()
    const since = performance.now()
    for (let at = 0; at < 4; at++)
      await untilEnded(server, (await execute(server, 'quick', { mark: `slow-${at}` })).body.id)
    // About twice as long as it takes here and now: half of the time it is cancelled before, half of it after.
    let spanMs = Math.ceil((performance.now() - since) / 2)
    const race = async (at: number) => {
      const { body } = await execute(server, 'quick', { mark: `race-${at}` })
      await sleep(randomInt(0, spanMs))
      const asked = await cancel(body.id)
      const { status, errorCode } = await untilEnded(server, body.id)
      if (asked.status !== 200) expectProblem(asked, 409, 'ILLEGAL_STEP')
      else if (!['PENDING', 'RUNNING'].includes(asked.body.status)) expect(status).toBe(asked.body.status)
      expect(['SUCCESS', 'CANCELLED']).toContain(status)
      expect(errorCode).toBe(status === 'SUCCESS' ? null : 'EXECUTION_CANCELLED')
      if (status === 'SUCCESS') expect(tools.count(`race-${at}`)).toEqual({ begun: 1, ended: 1 })
      states.set(status, (states.get(status) ?? 0) + 1)
    }
    // Both must have been seen, or nothing was tried; a machine may become slower or faster meanwhile.
    for (let start = 0; start < 100 || states.size < 2; start += 10) {
      await times(10, (at) => race(start + at))
      if (!states.has('SUCCESS')) spanMs *= 2
      if (!states.has('CANCELLED')) spanMs = Math.max(1, spanMs >> 1)
    }
    expect([...states.keys()].sort()).toEqual(['CANCELLED', 'SUCCESS'])
  })

  it('46: cancelling an ended, foreign or unknown run is refused and changes nothing', async () => {
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

  it('45: a client that disconnects during a call: its child is gone, and the row is CANCELLED', async () => {
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

onEachWorld('idempotency keys', { words: ['--concurrency', '2'] }, (world) => {
  it('34: one idempotency key, twenty times at once, makes one run and one answer, waited for or queued', async () => {
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

  it('80: a call that is cancelled while it waits for a slot is answered and never begun', async () => {
    const server = world.server()
    const tools = new TracedTools(tempFolder())
    await tools.registerHeld(server, 'lined')
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
    expect(tools.count('front-0')).toEqual({ begun: 1, ended: 0 })
    tools.release()
    for (const { body } of await busy) expect(body.status).toBe('SUCCESS')
    expect(tools.count('behind').begun).toBe(0)
  })

  it('34: calls refused or joined while all slots are taken lose no slot; a caller that joined may disconnect', async () => {
    const server = world.server()
    const tools = new TracedTools(tempFolder())
    await tools.registerHeld(server, 'crowded')
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
    tools.release()
    for (const { body } of await busy) expect(body.status).toBe('SUCCESS')
    const after = await times(6, (at) => execute(server, 'crowded', { mark: `after-${at}` }, { wait: true }))
    for (const { body } of after) expect(body.status).toBe('SUCCESS')
    expect(tools.maxTogether()).toBe(2)
  })
})

it('45: a call cancelled over stdio: its child is gone, and nothing more is sent', async () => {
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
