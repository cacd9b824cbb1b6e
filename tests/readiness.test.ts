import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from './support/start-server.ts'
import { lastingFolder, tempFile } from './support/temp-folder.ts'

let server: TestServer
beforeAll(async () => {
  const away = { url: 'http://127.0.0.1:9/mcp', allowPrivate: true }
  const servers = tempFile('servers.json', JSON.stringify({ mcpServers: { away } }), lastingFolder())
  server = await startServer({ words: ['--mcp-servers', servers] })
  const tool = {
    name: 'far_away',
    displayName: 'Far away',
    description: 'Asks a server that is not there',
    inputSchema: { type: 'object' },
    executorType: 'mcp',
    executorConfig: { server: 'away', tool: 'ask' },
  }
  const made = await server.request('POST', '/tools', { body: tool })
  expect(made.status, made.text).toBe(201)
  expect((await server.request('POST', '/tools/far_away/activate')).status).toBe(200)
})
afterAll(() => server?.stop())

const find = async (more: object = {}) => {
  const { body } = await server.request('POST', '/search', { body: { query: 'far_away', ...more } })
  return body.results.find(({ name }: { name: string }) => name === 'far_away')
}

it('says of a registered tool whose server is down that it is, in search, in its description and to a filter', async () => {
  await expect.poll(find).toBeDefined()
  expect((await find()).readiness).toBeUndefined()
  for (let call = 0; call < 3; call++) {
    const { body } = await server.request('POST', '/tools/far_away/execute', { body: { wait: true } })
    expect(body.errorCode).toMatch(/^UPSTREAM_(ERROR|DOWN)$/)
  }
  expect((await find()).readiness).toMatchObject({ state: 'upstream-down', reason: expect.stringContaining('away') })
  expect(await find({ readiness: ['ready'] })).toBeUndefined()
  expect(await find({ readiness: ['upstream-down'] })).toBeDefined()
  const { body } = await server.request('POST', '/describe', { body: { ids: ['far_away'] } })
  expect(body.tools[0].readiness.state).toBe('upstream-down')
})
