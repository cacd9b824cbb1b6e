import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectProblem, register } from './support/rest.ts'
import { runInline } from './support/run-here.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { tempScript } from './support/temp-folder.ts'
import { execute, registerCommand } from './support/traced-tools.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ limitedBecause: 'its commands are scripts outside of the folders of the server' })
})
afterAll(() => server.stop())

const json = '#!/bin/sh\nprintf \'{"rows":["%s"]}\' "$(seq -s, 40000)"\n'

describe('an output that is stored separately', () => {
  it('is not in the logs, where other callers could read it', async () => {
    await register(server, 'structured', {
      executorType: 'cli',
      outputSchema: { type: 'object' },
      executorConfig: { baseCommand: tempScript('structured', json) },
    })
    await server.request('POST', '/tools/structured/activate')
    const { body, text } = await execute(server, 'structured', {}, { wait: true })
    expect(body).toMatchObject({ status: 'SUCCESS', logs: { stdout: '' }, result: { mediaType: 'application/json' } })
    expect(text.length).toBeLessThan(10_000)
    const other = (await server.request('POST', '/keys', { body: { name: 'other', scopes: ['call'] } })).body.secret
    expectProblem(await server.request('GET', `/results/${body.result.handle}`, { key: other }), 404)
    expect((await server.request('GET', `/executions/${body.id}`, { key: other })).text.length).toBeLessThan(10_000)
    // A value that is too large by itself is shown in its shape.
    const whole = await server.request('GET', `/results/${body.result.handle}?path=$`)
    expect(whole.body).toMatchObject({ total: 1, cut: true })
    expect(whole.text.length).toBeLessThan(70_000)
  })

  it('is read to its end, however long its lines are, through the tool that reads results too', async () => {
    await registerCommand(server, 'long_line', tempScript('long', '#!/bin/sh\nprintf "%0500000d needle\\nlast" 7\n'))
    const { body } = await execute(server, 'long_line', {}, { wait: true })
    const { handle } = body.result
    const read = async (query: string) => (await server.request('GET', `/results/${handle}?${query}`)).body
    const { total } = await read('limit=1')
    let text = ''
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const page = await read(`offset=${offset}&limit=1000`)
      text += page.items.join('')
      offset = page.nextOffset
    }
    expect(text).toBe(`${'7 needle'.padStart(500_007, '0')}last`)
    const [found] = (await read('grep=needle')).items
    expect(found).toMatch(new RegExp(`^${total - 2}: .*needle$`))
    const arguments_ = { handle, grep: 'needle' }
    const invoked = await server.request('POST', '/llm/tools/tooldex:read_result/invoke', {
      body: { arguments: arguments_ },
    })
    expect(invoked.body).toMatchObject({ success: true, executionId: null, result: { items: [found] } })
    const call = (args: object) => {
      const words = ['call', '--server', server.url, '--args', JSON.stringify(args), 'tooldex:read_result', '--json']
      return runInline(words, { env: { TOOLDEX_API_KEY: server.key } })
    }
    const cli = await call(arguments_)
    expect([cli.code, cli.stdout]).toEqual([0, expect.stringContaining('needle')])
    expect((await call({ handle, grpe: 'needle' })).stdout).toContain("unknown key 'grpe'. Did you mean 'grep'?")
    const misspelled = { body: { arguments: { handle, grpe: 'needle' } } }
    const refused = await server.request('POST', '/llm/tools/tooldex:read_result/invoke', misspelled)
    expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining("Did you mean 'grep'?")])
  })
})
