import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { draft, expectProblem } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/start-server.ts'

describe('schemas of registered tools, over HTTP', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server?.stop())
  const create = (name: string, inputSchema: unknown, more: object = {}) =>
    server.request('POST', '/tools', { body: draft(name, { inputSchema, ...more }) })

  it('20: a pattern that freezes other engines is harmless, and others are served meanwhile', async () => {
    const properties = { text: { type: 'string', pattern: '^(a+)+$' } }
    const examples = [{ description: 'long', args: { text: `${'a'.repeat(40)}!` } }]
    const [slow, other] = await Promise.all([
      create('slow_pattern', { type: 'object', properties }, { examples }),
      server.request('GET', '/tools'),
    ])
    expect([slow.status, other.status]).toEqual([201, 200])
  })

  it('21: a reference out of the document is refused, and nothing is fetched', async () => {
    let asked = 0
    const canary = createServer((_, response) => {
      asked++
      response.end('{}')
    })
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void canary.close())
    const { port } = canary.address() as AddressInfo
    for (const $ref of [`http://127.0.0.1:${port}/schema.json`, 'file:///etc/passwd', 'other.json#/a']) {
      const answer = await create('refers_out', { type: 'object', properties: { x: { $ref } } })
      expectProblem(answer, 422, 'TOOL_INVALID')
      expect(answer.body.errors[0].pointer).toBe('/inputSchema/properties/x/$ref')
    }
    expect(asked).toBe(0)
  })

  it('22: a schema that refers to itself is taken; one that is too large is refused at once', async () => {
    const tree = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } }
    expect((await create('recursive', tree)).status).toBe(201)
    const many = Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [`p${at}`, { type: 'string' }]))
    const all = { type: 'object', allOf: Array.from({ length: 1000 }, () => ({ minProperties: 1 })) }
    for (const schema of [{ type: 'object', properties: many }, all]) {
      expectProblem(await create('too_large', schema), 422, 'TOOL_INVALID')
    }
  })

  it('23: both drafts are honoured, another is refused by name', async () => {
    const draft07 = 'http://json-schema.org/draft-07/schema#'
    const tuple = { type: 'array', items: [{ type: 'string' }] }
    const old = await create('old_draft', { $schema: draft07, type: 'object', properties: { pair: tuple } })
    expect(old.status).toBe(201)
    expectProblem(await create('new_draft', { type: 'object', properties: { pair: tuple } }), 422, 'TOOL_INVALID')
    const unknown = await create('unknown_draft', { $schema: 'https://example.org/mine', type: 'object' })
    expectProblem(unknown, 422, 'TOOL_INVALID')
    expect(unknown.body.detail).toMatch(/draft-07|2020-12/)
  })

  it('a script that does not parse is refused with its line and column', async () => {
    const scriptContent = 'def main(input_data):\n    return (1,\n'
    const answer = await create(
      'broken',
      { type: 'object' },
      { executorType: 'python', executorConfig: {}, scriptContent },
    )
    expectProblem(answer, 422, 'TOOL_INVALID')
    expect(answer.body.errors[0]).toMatchObject({
      pointer: '/scriptContent',
      line: expect.any(Number),
      column: expect.any(Number),
    })
  })
})
