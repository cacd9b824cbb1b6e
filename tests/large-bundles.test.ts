import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleLimits } from '../src/contract/bundle.ts'
import { readBundleFolder } from '../src/sources/bundle/index.ts'
import { draft } from './support/rest.ts'
import { runCli } from './support/run-cli.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { tempFolder } from './support/temp-folder.ts'

const many = (count: number) => Array.from({ length: count }, (_, index) => draft(`tool_${index}`))

describe('a registry with more than 10,000 tools', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  it('is imported, exported whole, and taken back from the export', { timeout: 600_000 }, async () => {
    const bundle = { tooldex: 1, tools: many(10_001) }
    const taken = await server.request('POST', '/bundle', { body: { bundle } })
    expect([taken.status, taken.body.plan?.create.length]).toEqual([200, 10_001])
    const given = await server.request('GET', '/bundle')
    expect([given.status, given.body.tools?.length]).toEqual([200, 10_001])
    const folder = tempFolder()
    const env = { TOOLDEX_API_KEY: server.key, TOOLDEX_HOME: server.home }
    const words = ['--server', server.url]
    const written = await runCli(['tools', 'export', join(folder, 'all.json'), ...words], { env })
    expect([written.code, written.stdout]).toEqual([0, `10001 tools written to ${join(folder, 'all.json')}\n`])
    const again = await runCli(['apply', folder, '--dry-run', ...words], { env })
    expect([again.code, again.stdout]).toEqual([0, 'Nothing to do: the registry matches the files.\n'])
  })

  it('names the limit of a body that is too large, and the next step', async () => {
    const answer = await server.request('POST', '/bundle', { body: { text: 'x'.repeat(33 * 1024 * 1024) } })
    expect([answer.status, answer.body.detail]).toEqual([413, 'The body is larger than 32768 KiB.'])
    expect(answer.body.hint).toContain('tooldex db export')
  })
})

describe('a bound of bundles', () => {
  it('is named with the folder that exceeds it, and with the next step', async () => {
    const folder = tempFolder()
    const categories = (from: string) =>
      Array.from({ length: bundleLimits.categories / 2 + 1 }, (_, index) => ({ name: `${from} ${index}` }))
    mkdirSync(join(folder, 'deep'))
    writeFileSync(join(folder, 'a.json'), JSON.stringify({ categories: categories('a') }))
    writeFileSync(join(folder, 'deep', 'b.json'), JSON.stringify({ categories: categories('b') }))
    await expect(readBundleFolder(folder)).rejects.toThrow(
      expect.objectContaining({
        message: `${folder} has more than ${bundleLimits.categories} categories.`,
        hint: expect.stringMatching(/split it .* tooldex db export/),
      }),
    )
  })
})
