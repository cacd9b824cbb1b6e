import { afterAll, expect, it } from 'vitest'
import { openRegistry } from './support/open-registry.ts'

const site = await openRegistry(['git'])
const { request } = site
afterAll(() => site.close())

it('describes tools of configs and of the registry as TypeScript declarations over HTTP', async () => {
  const git = await request('GET', '/tools/git_log/doc?format=typescript')
  expect(git.status).toBe(200)
  expect(git.body.typescript).toMatch(
    /^interface Tools {\n {2}\/\*\* .*\n {2}git_log\(input\?: {\n.*max_count\?: number/s,
  )
  expect(git.body).not.toHaveProperty('tool')
  const body = {
    name: 'tides',
    displayName: 'Tides',
    description: 'Returns the tides of a port.',
    inputSchema: { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] },
    outputSchema: { type: 'object', properties: { high: { type: 'number' } }, required: ['high'] },
    executorType: 'http',
    executorConfig: { method: 'GET', url: 'https://tides.example/{port}' },
  }
  expect((await request('POST', '/tools', { body })).status).toBe(201)
  const draft = await request('GET', '/tools/tides/doc?format=typescript&level=summary')
  expect(draft.body.typescript).toContain('tides(input: {\n    port: string\n  }): Promise<{\n    high: number\n  }>')
  const unknown = await request('GET', '/tools/tides/doc?format=java')
  expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([422, '/format'])
})
