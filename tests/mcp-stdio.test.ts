import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadTokenCounter } from '../src/base/tokens.ts'
import { ToolIndex } from '../src/index.ts'
import { loadConfigFile } from '../src/sources/cli/index.ts'
import { findProcesses, uniqueSeconds } from './faults/processes.ts'
import { connect, openConnection, revisions } from './support/connect.ts'
import { needs } from './support/needs.ts'
import { climaxConfigFiles, climaxConfigs, hasClimaxConfigs } from './support/shared-data.ts'
import { tempFile } from './support/temp-folder.ts'

const sleeper = `
name: slow
command: sleep
tools:
  - { name: slow_sleep, description: Sleep, args: [{ name: seconds, positional: true, required: true }] }
`

/** An answer whose shape the assertions check. */
interface Json {
  readonly [key: string]: Json | undefined
}

async function call(
  client: Awaited<ReturnType<typeof connect>>['client'],
  name: string,
  args: Record<string, unknown>,
) {
  const result = await client.callTool({ name, arguments: args })
  const [first] = result.content
  const text = first?.type === 'text' ? first.text : ''
  return { text, data: result.structuredContent as Json, isError: result.isError === true }
}

describe.each(revisions)('tooldex run over stdio, revision %s', (revision) => {
  let shared: Awaited<ReturnType<typeof openConnection>>
  beforeAll(async () => {
    shared = await openConnection(['git', 'coreutils'], { revision })
  })
  afterAll(() => shared?.client.close())

  it('lists exactly the three tools', async () => {
    const { client } = shared
    expect(client.getNegotiatedProtocolVersion()).toBe(revision)
    const { tools } = await client.listTools()
    expect(tools.map((tool) => tool.name)).toEqual(['search_tools', 'describe_tool', 'call_tool'])
  })

  it('searches, describes and calls', async () => {
    const { client } = shared
    const overview = await call(client, 'search_tools', {})
    expect(overview.data.mode).toBe('summary')
    const found = await call(client, 'search_tools', { query: 'git commit', limit: 3 })
    expect(found.data.results?.[0]?.name).toBe('git_commit')
    expect(found.text.split('\n')[0]).toMatch(/^git_commit\(/)
    const read = await call(client, 'describe_tool', { ids: ['coreutils_echo', 'git:git_commit'] })
    expect(read.data.tools?.[0]?.tool?.inputSchema).toMatchObject({ required: ['message'] })
    const echoed = await call(client, 'call_tool', { name: 'coreutils_echo', arguments: { message: 'hello' } })
    expect(echoed).toMatchObject({
      text: 'hello',
      isError: false,
      data: { stdout: 'hello\n', exitCode: 0, truncated: false },
    })
  })

  it('describes the tools it knows and names those it does not', async () => {
    const { client } = shared
    const some = await call(client, 'describe_tool', { ids: ['git_lgo', 'git_log'], level: 'summary' })
    expect(some).toMatchObject({ isError: false, data: { tools: [{ name: 'git_log' }], unknown: [{ id: 'git_lgo' }] } })
    expect(some.text).toMatch(/^git_log: .*\n\nUnknown tool: git_lgo. Did you mean 'git_log'/)
    const none = await call(client, 'describe_tool', { ids: ['git_lgo', 'zzqx'] })
    expect(none).toMatchObject({ isError: true, data: { error: { code: 'TOOL_NOT_FOUND' } } })
    expect(none.text).toContain('zzqx: Find the right name with search_tools.')
  })

  it('shows in a dry run what would run, and runs nothing', async () => {
    const { client } = shared
    const { data, text } = await call(client, 'call_tool', {
      name: 'coreutils_echo',
      arguments: { message: 'a b' },
      dryRun: true,
    })
    expect(data.plan?.argv).toEqual(expect.arrayContaining(['echo', 'a b']))
    expect(text).toContain("'a b'")
  })

  it('returns tool errors with the next step', async () => {
    const { client } = shared
    const missing = await call(client, 'call_tool', { name: 'coreutils_echo', arguments: {} })
    expect(missing.isError).toBe(true)
    expect(missing.text).toContain("Missing required argument 'message'")
    const unknown = await call(client, 'call_tool', { name: 'git_comit', arguments: {} })
    expect(unknown.text).toContain("Did you mean 'git_commit'")
    const failed = await call(client, 'call_tool', { name: 'git_show', arguments: { revision: 'no-such-thing' } })
    expect(failed.isError).toBe(true)
    await expect(client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toMatchObject({ code: -32602 })
  })

  it('refuses arguments that the three tools do not know, and names the nearest', async () => {
    const { client } = await connect(['git', 'coreutils'], { revision })
    const cases = [
      ['search_tools', { query: 'commit', catgory: 'vcs' }, 'category'],
      ['search_tools', { query: 'commit', budget_tokens: 50 }, 'budgetTokens'],
      ['describe_tool', { ids: ['git_log'], levl: 'full' }, 'level'],
      ['call_tool', { name: 'coreutils_echo', arguments: { message: 'x' }, dryrn: true }, 'dryRun'],
    ] as const
    for (const [tool, args, meant] of cases) {
      const { text, isError, data } = await call(client, tool, args)
      expect([isError, data.error?.code]).toEqual([true, 'INPUT_INVALID'])
      expect(text).toContain(`Did you mean '${meant}'?`)
      expect(text).toContain(`${tool} takes: `)
    }
    const accepted = await call(client, 'search_tools', { query: 'commit', mode: 'bm25', limit: 1 })
    expect(accepted.isError).toBe(false)
    const climax = await call(client, 'climax_call', { tool_name: 'coreutils_echo', args: { message: 'x' }, why: 'y' })
    expect(climax).toMatchObject({ isError: false, text: 'x' })
  })

  it('understands how models misplace the arguments of call_tool', async () => {
    const { client } = shared
    const spellings = [
      { tool_name: 'coreutils_echo', args: { message: 'x' } },
      { name: 'coreutils_echo', arguments: '{"message":"x"}' },
      { name: 'coreutils_echo', message: 'x' },
      { arguments: { name: 'coreutils_echo', arguments: { message: 'x' } } },
    ]
    for (const spelling of spellings) expect((await call(client, 'call_tool', spelling)).text).toBe('x')
  })

  it('lists every tool itself in classic mode, with schemas, titles and annotations', async () => {
    const { client } = await connect(['--classic', 'git'], { revision })
    const { tools } = await client.listTools()
    const expected = ToolIndex.fromConfigs([loadConfigFile('git').config]).search({ limit: 1000 })
    expect(tools.map((tool) => tool.name)).toEqual(expected.map((entry) => entry.toolName))
    expect(tools.map((tool) => tool.inputSchema)).toEqual(expected.map((entry) => entry.inputSchema))
    const status = tools.find((tool) => tool.name === 'git_status')
    expect(status).toMatchObject({ title: 'Git status', annotations: { readOnlyHint: true } })
    await expect(client.callTool({ name: 'search_tools', arguments: {} })).rejects.toMatchObject({ code: -32602 })
  })

  it('pins tools beside the three and calls them by their own name', async () => {
    const { client, stderr } = await connect(['--pin', 'coreutils_echo', '--pin', 'nope', 'coreutils'], { revision })
    const { tools } = await client.listTools()
    expect(tools.map((tool) => tool.name).slice(3)).toEqual(['coreutils_echo'])
    expect((await call(client, 'coreutils_echo', { message: 'pinned' })).text).toBe('pinned')
    expect(stderr()).toContain('--pin nope')
  })

  it('cancels a call and ends its process', async () => {
    const file = tempFile('slow.yaml', sleeper)
    const { client } = await connect([file], { revision })
    const stop = new AbortController()
    const seconds = uniqueSeconds()
    const pending = client.callTool(
      { name: 'call_tool', arguments: { name: 'slow_sleep', arguments: { seconds } } },
      { signal: stop.signal },
    )
    await expect.poll(() => findProcesses(seconds).length).toBeGreaterThan(0)
    stop.abort()
    await expect(pending).rejects.toThrow()
    await expect.poll(() => findProcesses(seconds)).toEqual([])
  })

  it('reports progress that only grows', async () => {
    const file = tempFile('slow.yaml', sleeper)
    const { client } = await connect([file], { revision })
    const seen: number[] = []
    const stop = new AbortController()
    const params = { name: 'call_tool', arguments: { name: 'slow_sleep', arguments: { seconds: '25' } } }
    const onprogress = ({ progress }: { progress: number }) => {
      if (seen.push(progress) === 3) stop.abort()
    }
    await expect(client.callTool(params, { onprogress, signal: stop.signal })).rejects.toThrow()
    expect(seen).toHaveLength(3)
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
  })

  it('makes a repeated idempotency key one call', async () => {
    const args = '[{ name: format, positional: true, default: "+%N" }]'
    const file = tempFile('clock.yaml', `command: date\ntools:\n  - { name: clock, description: d, args: ${args} }\n`)
    const { client } = await connect([file], { revision })
    const once = { name: 'clock', arguments: {}, idempotencyKey: 'k1' }
    const [first, second] = [await call(client, 'call_tool', once), await call(client, 'call_tool', once)]
    expect(first.text).toMatch(/^\d{9}$/)
    expect(second.text).toBe(first.text)
    expect((await call(client, 'call_tool', { ...once, idempotencyKey: 'k2' })).text).not.toBe(first.text)
    const other = await call(client, 'call_tool', { ...once, arguments: { format: '+%s' } })
    expect(other).toMatchObject({ isError: true, data: { error: { code: 'KEY_REUSED' } } })
  })
})

describe('what the three tools cost', () => {
  it('is at most 350 tokens for their definitions', async () => {
    const { client } = await connect(['git'])
    const { tools } = await client.listTools()
    const count = await loadTokenCounter()
    expect(count(JSON.stringify(tools))).toBeLessThanOrEqual(350)
  })
})

describe('names that clients would refuse', () => {
  it('get a short one that is always the same, and both work', async () => {
    const name = `echo_${'very_'.repeat(15)}long name`
    const file = tempFile('long.yaml', `command: echo\ntools:\n  - {name: "${name}", description: d, command: hi}\n`)
    const { client } = await connect(['--classic', file])
    const { tools } = await client.listTools()
    const short = tools[0]?.name ?? ''
    expect(short).toMatch(/^[A-Za-z0-9_-]{1,50}$/)
    expect((await call(client, short, {})).text).toBe('hi')
    const second = await connect([file])
    expect((await call(second.client, 'call_tool', { name: short })).text).toBe('hi')
    expect((await call(second.client, 'call_tool', { name })).text).toBe('hi')
  })
})

describe("CLImax's own configs", () => {
  needs(hasClimaxConfigs, "CLImax's configs are not beside this checkout")(
    'are all reachable by call_tool (SC-001)',
    async () => {
      const files = climaxConfigFiles()
      const { client } = await connect([...files])
      const index = ToolIndex.fromConfigs(files.map((file) => loadConfigFile(file).config))
      expect(index.size).toBe(71)
      for (const { toolName, inputSchema } of index.search({ limit: 1000 })) {
        const required = (inputSchema.required ?? []) as string[]
        const properties = inputSchema.properties as Record<string, { type: string; enum?: unknown[] }>
        const given = required.map((key) => [
          key,
          properties[key]?.enum?.[0] ?? (properties[key]?.type === 'integer' ? 1 : 'x'),
        ])
        const { data, isError, text } = await call(client, 'call_tool', {
          name: toolName,
          arguments: Object.fromEntries(given),
          dryRun: true,
        })
        expect(isError, text).toBe(false)
        expect(data.plan?.argv?.length).toBeGreaterThan(0)
      }
    },
  )

  needs(hasClimaxConfigs, "CLImax's configs are not beside this checkout")(
    'run for real: git and coreutils',
    async () => {
      const files = ['git', 'coreutils'].map((name) => join(climaxConfigs, `${name}.yaml`))
      const { client } = await connect(files)
      expect((await call(client, 'call_tool', { name: 'coreutils_hello' })).text).toBe('hello from CLImax')
      expect((await call(client, 'call_tool', { name: 'git_status', arguments: { short: true } })).isError).toBe(false)
      expect(
        (await call(client, 'call_tool', { name: 'git_log', arguments: { max_count: '1', oneline: 'true' } })).text,
      ).toMatch(/^[0-9a-f]{7,} /)
    },
  )
})
