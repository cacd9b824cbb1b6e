import { join } from 'node:path'
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import { createTooldex, defineTool, loadConfig, type Tooldex, TooldexError, type TooldexOptions } from '../src/index.ts'
import { projectRoot } from './support/run-cli.ts'
import { tempFolder } from './support/temp-folder.ts'

const opened: Tooldex[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

async function create(options: TooldexOptions = {}): Promise<Tooldex> {
  const tooldex = await createTooldex(options)
  opened.push(tooldex)
  return tooldex
}

const convert = defineTool({
  name: 'convert_temperature',
  description: 'Converts a temperature from Celsius to Fahrenheit.',
  input: z.object({ celsius: z.number().min(-273.15), digits: z.int().default(1) }),
  output: z.object({ fahrenheit: z.number() }),
  annotations: { readOnlyHint: true },
  run: ({ celsius, digits }) => ({ fahrenheit: Number((celsius * 1.8 + 32).toFixed(digits)) }),
})

/** A function that never ends, whatever its signal. */
const stuck = (started: () => void) =>
  defineTool({
    name: 'get_stuck',
    description: 'Waits forever.',
    input: { type: 'object' },
    run: (_, { report }) => {
      report('waiting\n')
      started()
      return new Promise(() => {})
    },
  })

describe('the options of a catalog', () => {
  it.each([
    [{ config: ['git'] }, /unknown key 'config'\. Did you mean 'configs'\?/],
    [{ servers: 3, codeMode: 'yes' }, /servers must be an object.*; codeMode must be a boolean/],
    [{ database: {} }, /database/],
    [{ functions: [convert, { name: 'add', run: 1 }] }, /Function 2 is not a tool/],
    [[], /options of createTooldex was refused/],
  ])('%j are rejected with the reason', async (options, reason) => {
    await expect(create(options as unknown as TooldexOptions)).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringMatching(reason),
    })
  })
})

describe('functions of a program', () => {
  it('are found, described and called like any other tool', async () => {
    const tooldex = await create({ configs: ['coreutils'], functions: [convert] })
    const { results = [] } = await tooldex.search({ query: 'celsius to fahrenheit', limit: 3 })
    expect(results[0]).toMatchObject({ id: 'code:convert_temperature', name: 'convert_temperature' })
    const { tools } = await tooldex.describe({ ids: ['convert_temperature'] })
    expect(tools[0]?.tool).toMatchObject({
      inputSchema: { required: ['celsius'], properties: { digits: { default: 1 } } },
      outputSchema: { required: ['fahrenheit'] },
    })
    expect(await tooldex.call({ name: 'convert_temperature', arguments: { celsius: 36.6 } })).toMatchObject({
      outcome: { status: 'SUCCESS', output: { fahrenheit: 97.9 }, isolation: 'none' },
    })
    expect(await tooldex.call({ name: 'convert_temperature', arguments: { celsius: 1 }, dryRun: true })).toMatchObject({
      plan: { kind: 'code', call: { function: 'code:convert_temperature', arguments: { celsius: 1, digits: 1 } } },
    })
    const { summary } = await tooldex.search()
    expect(summary?.map(({ name }) => name)).toEqual(['coreutils', 'code'])
    expect(await tooldex.call({ name: 'coreutils_wc', arguments: { files: ['package.json'] } })).toMatchObject({
      outcome: { status: 'SUCCESS' },
    })
  })

  it('have the types of their schemas', () => {
    defineTool({
      name: 'typed',
      description: 'Types.',
      input: z.object({ text: z.string(), count: z.int().default(2) }),
      output: z.object({ length: z.number() }),
      run(input, { signal }) {
        expectTypeOf(input).toEqualTypeOf<{ text: string; count: number }>()
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
        return { length: input.text.length * input.count }
      },
    })
    defineTool({
      name: 'wrong',
      description: 'Returns another type.',
      input: z.object({}),
      output: z.object({ length: z.number() }),
      // @ts-expect-error: the result has another type
      run: () => ({ length: 'long' }),
    })
  })

  it('reject invalid arguments before they run, and report invalid results', async () => {
    let ran = 0
    const strange = defineTool({
      name: 'strange',
      description: 'Returns strange results.',
      input: z.object({ how: z.enum(['cycle', 'throw', 'shape']) }).refine(({ how }) => how !== 'shape' || ran < 0, {
        message: 'shape is not possible',
        path: ['how'],
      }),
      run({ how }) {
        ran++
        if (how === 'throw') throw new Error('No luck.')
        const cycle: Record<string, unknown> = {}
        cycle.self = cycle
        return cycle
      },
    })
    const wrong = defineTool({
      name: 'wrong_output',
      description: 'Returns a string instead of a number.',
      input: z.object({}),
      output: { type: 'number' },
      run: () => 'seven',
    })
    const tooldex = await create({ functions: [convert, strange, wrong] })
    const outcome = async (name: string, args: Record<string, unknown>) => {
      const answer = await tooldex.call({ name, arguments: args })
      return 'outcome' in answer ? answer.outcome : answer
    }
    await expect(tooldex.call({ name: 'convert_temperature', arguments: { celsius: 'hot' } })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      problems: [{ pointer: '/celsius' }],
    })
    await expect(tooldex.call({ name: 'strange', arguments: { how: 'other' } })).rejects.toBeInstanceOf(TooldexError)
    expect(ran).toBe(0)
    expect(await outcome('strange', { how: 'shape' })).toMatchObject({ status: 'FAILED', errorCode: 'INPUT_INVALID' })
    expect(await outcome('strange', { how: 'throw' })).toMatchObject({
      status: 'FAILED',
      errorCode: 'EXECUTION_FAILED',
      errorMessage: 'The function failed: No luck.',
    })
    expect(await outcome('strange', { how: 'cycle' })).toMatchObject({ status: 'FAILED', errorCode: 'OUTPUT_INVALID' })
    expect(await outcome('wrong_output', {})).toMatchObject({ status: 'FAILED', errorCode: 'OUTPUT_INVALID' })
    for (const input of [z.string(), z.array(z.string()), { '~standard': {} }])
      expect(() => defineTool({ ...convert, name: 'x', description: 'x', input, run: () => 1 } as never)).toThrow(
        /input/,
      )
  })

  it('end with their deadline and with their caller, even if they ignore both', async () => {
    let started = () => {}
    const tooldex = await create({ functions: [stuck(() => started())] })
    expect(await tooldex.call({ name: 'get_stuck', arguments: {}, timeoutMs: 50 })).toMatchObject({
      outcome: { status: 'TIMEOUT', errorCode: 'EXECUTION_TIMEOUT', result: { stderr: 'waiting\n' } },
    })
    const stopping = new AbortController()
    started = () => stopping.abort()
    expect(
      await tooldex.call({ name: 'get_stuck', arguments: {} }, { signal: stopping.signal, onOutput: () => {} }),
    ).toMatchObject({ outcome: { status: 'CANCELLED' } })
  })

  it('are bound by the policy, and hidden where it hides them', async () => {
    const policy = {
      tools: { convert_temperature: { args: { celsius: { max: 100 } } }, coreutils_wc: {} },
    } as unknown as NonNullable<TooldexOptions['policy']>
    const tooldex = await create({ configs: ['coreutils'], functions: [convert, stuck(() => {})], policy })
    await expect(tooldex.call({ name: 'convert_temperature', arguments: { celsius: 101 } })).rejects.toMatchObject({
      code: 'POLICY_REFUSED',
    })
    expect(await tooldex.call({ name: 'convert_temperature', arguments: { celsius: 0 } })).toMatchObject({
      outcome: { status: 'SUCCESS' },
    })
    await expect(tooldex.call({ name: 'get_stuck', arguments: {} })).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' })
    const { results = [] } = await tooldex.search({ query: 'waits forever' })
    expect(results.map(({ name }) => name)).not.toContain('get_stuck')
    await expect(tooldex.describe({ ids: ['get_stuck'] })).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' })
  })

  it('belong to one catalog, and can be added and removed', async () => {
    const [one, two] = [await create({ functions: [convert] }), await create({ configs: [loadConfig('git')] })]
    await expect(two.call({ name: 'convert_temperature', arguments: {} })).rejects.toMatchObject({
      code: 'TOOL_NOT_FOUND',
    })
    expect(await two.register(convert)).toEqual(['code:convert_temperature'])
    await expect(two.register(convert)).rejects.toMatchObject({ code: 'NAME_TAKEN' })
    expect((await two.search({ query: 'fahrenheit' })).results?.[0]?.id).toBe('code:convert_temperature')
    await two.unregister('code:convert_temperature')
    const left = (await two.search({ query: 'fahrenheit' })).results ?? []
    expect(left.map(({ id }) => id)).not.toContain('code:convert_temperature')
    await one.close()
    await one.close()
    await expect(one.search({ query: 'x' })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'This catalog is closed.',
    })
    expect((await two.describe({ ids: ['git_status'] })).tools).toHaveLength(1)
    await expect(two.tools.list()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    for (const arguments_ of [new Date(), { text: 'half \ud800' }, { call: () => 1 }])
      await expect(two.call({ name: 'git_status', arguments: arguments_ as never })).rejects.toMatchObject({
        code: 'INPUT_INVALID',
      })
  })
})

it('tools of MCP servers are in the catalog, and a server that does not start is reported', async () => {
  const lines: string[] = []
  const server = { command: process.execPath, args: [join(projectRoot, 'tests', 'upstreams', 'official-server.mjs')] }
  const tooldex = await create({
    servers: { notes: server, absent: { command: join(tempFolder(), 'no-such-program') } },
    log: (line) => lines.push(line),
  })
  expect(lines.join('\n')).toContain("The MCP server 'absent' does not list its tools")
  const { results = [] } = await tooldex.search({ namespace: 'notes', limit: 50 })
  expect(results.length).toBeGreaterThan(0)
  expect(results.every(({ id }) => id.startsWith('notes:'))).toBe(true)
  await expect(createTooldex({ servers: { 'a b': { url: 'ftp://x' } } })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  })
})

describe('with a database', () => {
  it('registers, versions, runs and retires tools, and records calls of functions', async () => {
    const home = tempFolder()
    const tooldex = await create({ functions: [convert], database: { home } })
    const draft = {
      name: 'say',
      displayName: 'Say',
      description: 'Says a word.',
      executorType: 'cli' as const,
      inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
      executorConfig: { baseCommand: 'echo', args: [{ name: 'word', positional: 1 }] },
    }
    expect(await tooldex.tools.create(draft)).toMatchObject({ status: 'DRAFT', version: 1 })
    await tooldex.tools.activate({ idOrName: 'say' })
    await tooldex.tools.change({ idOrName: 'say', description: 'Says one word.' })
    expect((await tooldex.versions.diff({ idOrName: 'say' })).class).toBe('wording')
    const compare = (more: object) => tooldex.versions.diffChange({ idOrName: 'say', ...more })
    const stricter = { inputSchema: { ...draft.inputSchema, required: ['word'] } }
    expect(await compare(stricter)).toMatchObject({ class: 'breaking', from: 2, fields: [{ field: 'inputSchema' }] })
    expect(await compare({ description: 'Says one word.' })).toMatchObject({ class: 'none', fields: [] })
    await expect(compare({ executorConfig: {} })).rejects.toMatchObject({ code: 'TOOL_INVALID' })
    expect(await tooldex.versions.rollback({ idOrName: 'say', version: 1 })).toMatchObject({ version: 3 })
    const ran = await tooldex.tools.execute({ idOrName: 'say', input: { word: 'hello' }, wait: true })
    expect(ran).toMatchObject({ status: 'SUCCESS', outputData: 'hello\n', version: 3 })
    const called = await tooldex.call({ name: 'convert_temperature', arguments: { celsius: 100 } })
    expect(called).toMatchObject({ outcome: { output: { fahrenheit: 212 } }, executionId: expect.any(String) })
    const names: string[] = []
    for await (const { toolName } of tooldex.executions.list({ limit: 1 })) names.push(toolName)
    expect(names.sort()).toEqual(['convert_temperature', 'say'])
    const taken = tooldex.tools.create(draft)
    await expect(taken).rejects.toMatchObject({ code: 'NAME_TAKEN' })
    await tooldex.tools.deprecate({ idOrName: 'say' })
    expect((await tooldex.tools.get({ idOrName: 'say' })).status).toBe('DEPRECATED')
    for (const name of ['half \ud800', () => 'made', new Date(), Number.NaN, 1n])
      await expect(tooldex.categories.create({ name } as never)).rejects.toMatchObject({ code: 'INPUT_INVALID' })
  })

  it('runs an approved call of a function in the program that has it', async () => {
    const guarded = defineTool({
      name: 'guarded',
      description: 'Needs approval.',
      input: { type: 'object' },
      annotations: { requiresApproval: true },
      run: () => 'done',
    })
    const tooldex = await create({ functions: [guarded], database: { home: tempFolder() } })
    const waiting = await tooldex.call({ name: 'guarded', arguments: {} })
    expect(waiting).toMatchObject({ waitsFor: 'approval' })
    const { executionId = '' } = waiting as { executionId?: string }
    await tooldex.executions.approve({ id: executionId })
    const events: string[] = []
    for await (const event of tooldex.follow(executionId)) events.push(event.event)
    expect(events.at(-1)).toBe('end')
    expect(await tooldex.executions.get({ id: executionId })).toMatchObject({ status: 'SUCCESS', outputData: 'done' })
  })
})
