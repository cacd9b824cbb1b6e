import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { needsLevel } from '../../../tests/support/needs.ts'
import { exampleToolsDir } from '../../base/package-info.ts'
import { describeExecutor, toolOf } from '../executor.suite.ts'
import { Sandbox } from '../sandbox/sandbox.ts'
import { createCliExecutor } from './cli-executor.ts'

const sandbox = new Sandbox({ env: process.env, allowLimited: true })
const executor = createCliExecutor({ env: process.env, scope: 'service', sandbox })

for (const isolation of ['limited', 'isolated', 'confined'] as const) {
  const tool = (baseCommand: string, more = {}) => ({ executorConfig: { baseCommand, isolation, ...more } })
  const when = await needsLevel(isolation)
  describeExecutor(`cli, ${isolation}`, () => ({
    executor,
    isolation,
    when,
    echo: tool('printf %s', { args: [{ name: 'text', positional: true }] }),
    fail: tool("sh -c 'echo it went wrong >&2; exit 3'"),
    wait: tool("sh -c 'echo started; sleep 60'"),
    flood: tool('yes'),
  }))
}

const whenLevel = { isolated: await needsLevel('isolated'), confined: await needsLevel('confined') }

describe('cli executor in a sandbox', () => {
  it.each(['isolated', 'confined'])('is rejected without a sandbox: %s', async (isolation) => {
    const bare = createCliExecutor({ env: process.env, scope: 'service' })
    const tool = toolOf('cli', { executorConfig: { baseCommand: 'true', isolation } })
    await expect(bare.prepare({ tool, input: {} }).run({})).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })

  for (const isolation of ['isolated', 'confined'] as const)
    whenLevel[isolation](`runs the example folder_sizes on the allowed folder: ${isolation}`, async () => {
      const example = parse(readFileSync(join(exampleToolsDir, 'folder-sizes.yaml'), 'utf8'))
      const path = process.cwd()
      const open = createCliExecutor({
        env: process.env,
        scope: 'service',
        sandbox: new Sandbox({ env: process.env, folders: [{ path, writable: false }] }),
      })
      const tool = toolOf(example.executorType, { executorConfig: { ...example.executorConfig, isolation } })
      for (const [folder, inside] of [
        [join(path, 'docs'), join(path, 'docs', 'guides')],
        ['docs', 'docs/guides'],
      ]) {
        const { status, result } = await open.prepare({ tool, input: { path: folder, depth: 1 } }).run({})
        expect([status, result.stderr]).toEqual(['SUCCESS', ''])
        expect(result.stdout).toMatch(new RegExp(`^[1-9]\\d*\t${inside}$`, 'm'))
      }
    })
})
