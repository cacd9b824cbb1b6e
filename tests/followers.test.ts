import { afterAll, beforeAll, expect, it } from 'vitest'
import { registerScript } from './support/registered-tools.ts'
import { startServer, type TestServer } from './support/start-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
  await registerScript(server, 'stays', { script: 'sleep 60' })
}, 60_000)
afterAll(() => server?.stop())

const follow = (id: string, key: string, signal: AbortSignal) =>
  fetch(`${server.url}/api/v1/executions/${id}/events`, { headers: { authorization: `Bearer ${key}` }, signal })

it('runs are followed by fifty of one caller at most, however they come; others have their place', async () => {
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
  await expect.poll(next, { timeout: 10_000 }).toBe(200)
  expect((await server.request('POST', `/executions/${run.id}/cancel`)).status).toBe(200)
}, 60_000)
