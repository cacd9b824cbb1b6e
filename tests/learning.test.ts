import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { connect } from './support/connect.ts'
import { runInline } from './support/run-here.ts'
import { tempFolder } from './support/temp-folder.ts'

type Hit = { readonly name: string }

async function names(client: Awaited<ReturnType<typeof connect>>['client'], query: string): Promise<readonly string[]> {
  const { structuredContent } = await client.callTool({ name: 'search_tools', arguments: { query } })
  return ((structuredContent as { results: Hit[] }).results ?? []).map((hit) => hit.name)
}

describe('search learns from calls', () => {
  it('raises what a query led to, shows it, builds a set of it, and forgets it', async () => {
    const env = { TOOLDEX_HOME: tempFolder(), TOOLDEX_LEARNING: 'on' }
    const query = 'print something on the screen for me'
    const first = await connect(['coreutils', 'jq'], { env })
    const before = await names(first.client, query)
    const place = before.indexOf('coreutils_echo')
    expect(place, before.join(' ')).toBeGreaterThanOrEqual(0)
    const call = { name: 'coreutils_echo', arguments: { message: 'hello' } }
    await first.client.callTool({ name: 'call_tool', arguments: call })
    const file = join(env.TOOLDEX_HOME, 'learned.jsonl')
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n')).toBe(true)
    await first.client.close()

    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ query, toolIds: ['coreutils:coreutils_echo'] })
    const second = await connect(['coreutils', 'jq'], { env })
    expect((await names(second.client, 'print something on a screen'))[0]).toBe('coreutils_echo')

    const explained = await runInline(
      ['search', '-c', 'coreutils', '--explain-tool', 'coreutils_echo', '--json', query],
      {
        env,
      },
    )
    expect(JSON.parse(explained.stdout).explained.explanation.signals.learned).toBeGreaterThan(0)
    const set = tempFolder()
    expect((await runInline(['eval', '--mine', set], { env })).stdout).toMatch(/^1 queries over \d+ tools/)
    const again = await runInline(['eval', '--mine', set], { env })
    expect(again).toMatchObject({ code: 3, stderr: expect.stringContaining('tools.jsonl exists.') })
    expect((await runInline(['eval', set, '--json'], { env })).code).toBe(0)
    expect((await runInline(['learning'], { env })).stdout).toContain(query)
    expect((await runInline(['learning', '--reset'], { env })).stdout).toContain('Learned queries deleted')
    expect(existsSync(file)).toBe(false)
  })

  it('learns nothing from a call that failed, and nothing when switched off', async () => {
    const env = { TOOLDEX_HOME: tempFolder(), TOOLDEX_LEARNING: 'on' }
    const { client } = await connect(['coreutils'], { env })
    await names(client, 'show the text of a file')
    await client.callTool({
      name: 'call_tool',
      arguments: { name: 'coreutils_cat', arguments: { files: ['/no/such/file'] } },
    })
    const off = await connect(['coreutils'], { env: { ...env, TOOLDEX_LEARNING: 'off' } })
    await names(off.client, 'print a message')
    await off.client.callTool({ name: 'call_tool', arguments: { name: 'coreutils_echo', arguments: { message: 'x' } } })
    expect(existsSync(join(env.TOOLDEX_HOME, 'learned.jsonl'))).toBe(false)
    expect((await runInline(['learning'], { env: { ...env, TOOLDEX_LEARNING: 'off' } })).stdout).toContain('turned off')
  })
})
