import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileTool } from '../src/definitions/index.ts'
import { diffTools } from '../src/versions/diff-tools.ts'
import { hostileArguments, hostileSchema, paths } from './fuzz/hostile.ts'
import { createRandom } from './fuzz/random.ts'

// Threads can be started only from built modules.
const built = (path: string) => import(new URL(`../dist/${path}`, import.meta.url).href)
const {
  validateValue,
  checkSchemaText,
  findInJsonText,
  findPatternFaults,
  matchPatterns,
  readJsonInTurns,
  readJsonPart,
} = (await built('json-schema/offload/json-work.js')) as typeof import('../src/json-schema/offload/json-work.ts')
const { workFor } = (await built('base/semaphore.js')) as typeof import('../src/base/semaphore.ts')
const { JsonText } = (await built('base/json-text.js')) as typeof import('../src/base/json-text.ts')
const { replaceInOutput } = (await built('runs/output-threads.js')) as typeof import('../src/runs/output-threads.ts')
const { shapeOutput } = (await built('runs/shape-output.js')) as typeof import('../src/runs/shape-output.ts')
const { failedOutcome } = (await built('runs/create-runner.js')) as typeof import('../src/runs/create-runner.ts')
const { defaultRunSettings } = (await built('runs/settings.js')) as typeof import('../src/runs/settings.ts')
const { readJson } = (await built('documents/read-json.js')) as typeof import('../src/documents/read-json.ts')

const { compileToolInThread, diffToolInThread } = (await built(
  'operations/checks/tool-threads.js',
)) as typeof import('../src/operations/checks/tool-threads.ts')

/** Whether the event loop takes turns until the work is done: 0 where it is done on this very thread, which takes microtasks only. */
async function turnsDuring<Result>(work: () => Promise<Result>): Promise<{ turns: number; result: Result }> {
  let done = false
  const working = work().finally(() => {
    done = true
  })
  working.catch(() => {})
  // No message of a thread is received before the microtasks end, however fast the thread is.
  for (let count = 0; count < 10_000 && !done; count++) await Promise.resolve()
  const turns = done ? 0 : 1
  return { turns, result: await working }
}

const pattern = '(?:a|aa|aaa|aaaa){1,1000}$'
const withPattern = { type: 'object', properties: { text: { type: 'string', pattern } } }

function branching(levels: number): Record<string, unknown> {
  const $defs: Record<string, unknown> = { d0: { type: 'integer' } }
  for (let level = 1; level <= levels; level++) {
    const $ref = `#/$defs/d${level - 1}`
    $defs[`d${level}`] = { anyOf: [{ $ref }, { $ref }] }
  }
  return { type: 'object', properties: { text: { $ref: `#/$defs/d${levels}` } }, $defs }
}

describe('work that would hold the event loop', () => {
  it('a pattern that is costly on a long text runs in a thread, and the answer names it', async () => {
    const { turns, result } = await turnsDuring(() => validateValue(withPattern, { text: 'a'.repeat(30_000) }))
    expect(turns).toBeGreaterThan(0)
    expect(result.problems).toMatchObject([{ message: expect.stringContaining(`the pattern '${pattern}'`) }])
    const short = await validateValue(withPattern, { text: 'aaa' })
    expect(short.problems).toEqual([])
    expect((await validateValue(withPattern, { text: 'b' })).problems).toMatchObject([{ pointer: '/text' }])
  })

  it('a choice that doubles with each level runs in a thread, and the answer names the schema', async () => {
    const { turns, result } = await turnsDuring(() => validateValue(branching(25), { text: 'x' }))
    expect(turns).toBeGreaterThan(0)
    // The budget of steps ends the check in the thread; on a slow machine its deadline comes first.
    const reason = /\((?:the schema at #\/\$defs\/d\d+|the size of the schema)\)/
    expect(result.problems).toMatchObject([{ kind: 'too-costly', message: expect.stringMatching(reason) }])
  })

  it('a schema of many properties is checked and compiled in a thread', async () => {
    const names = Array.from({ length: 900 }, (_, index) => `p${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', description: 'A word.' }]))
    const schema = { type: 'object', properties }
    const checked = await turnsDuring(() => checkSchemaText(schema, '/inputSchema'))
    expect(checked).toMatchObject({ turns: expect.toSatisfy((turns: number) => turns > 0), result: [] })
    const { turns, result } = await turnsDuring(() => validateValue(schema, { p1: 'a', p2: 2 }))
    expect(turns).toBeGreaterThan(0)
    expect(result.problems).toMatchObject([{ pointer: '/p2' }])
  })

  it('a path with descendants and filters runs in a thread with a deadline, and can be cancelled', async () => {
    const items = Array.from({ length: 4000 }, (_, index) => ({ a: { b: { d: index } } }))
    const text = JSON.stringify({ items })
    const { turns } = await turnsDuring(() => findInJsonText(text, '$..[?@..c]').catch(() => undefined))
    expect(turns).toBeGreaterThan(0)
    expect(await findInJsonText(text, '$.items[17].a.b.d')).toEqual([17])
    expect(await findInJsonText('not JSON', '$..a')).toBeUndefined()
    const stopping = new AbortController()
    const cancelled = findInJsonText(text, '$..[?@..[?@..[?@..c]]]', stopping.signal)
    stopping.abort()
    await expect(cancelled).rejects.toMatchObject({ code: 'EXECUTION_CANCELLED' })
  })

  it('a long JSON text is read in a thread, which hands over the part at the pointer alone', async () => {
    const text = `{"items":[${'12345678901234567890,'.repeat(20_000)}1],"next":{"a/b":7},"none":null}`
    const { turns, result } = await turnsDuring(() => readJsonPart(text, '/next/a~1b'))
    expect({ turns: turns > 0, result }).toEqual({ turns: true, result: { value: 7 } })
    expect(await readJsonPart(text, '/items/0')).toEqual({ value: '12345678901234567890' })
    expect(await readJsonPart(text, '/none')).toEqual({ value: null })
    expect(await readJsonPart(text, '/absent')).toEqual({ missing: 'part' })
    expect(await readJsonPart(text.slice(1), '')).toEqual({ missing: 'JSON' })
    expect(await readJsonPart('[1]', '')).toEqual({ value: [1] })
  })

  it('a long part of a JSON text stays a text', async () => {
    const items = Array.from({ length: 20_000 }, (_, id) => ({ id }))
    const text = JSON.stringify({ items })
    expect(await readJsonPart(text, '/items')).toEqual({ value: new JsonText(JSON.stringify(items)) })
    expect(await findInJsonText(text, '$.items')).toEqual(new JsonText(JSON.stringify([items])))
    const { problems } = await validateValue({ type: 'object' }, new JsonText(JSON.stringify(items)))
    expect(problems).toHaveLength(1)
  })

  it('a long body is read in a thread and arrives in pieces, exactly as it was sent', async () => {
    const tools = Array.from({ length: 9000 }, (_, at) => ({ name: `tool_${at}`, tags: ['é\ud83d\ude00', null, 0.1] }))
    const text = `{"bundle": ${JSON.stringify({ tools })}, "list": [[1], [2]], "__proto__": {"polluted": 1}}`
    const bytes = (whole: string) => new Uint8Array(Buffer.from(whole))
    const { turns, result } = await turnsDuring(() => readJsonInTurns(bytes(text), {}))
    expect({ turns: turns > 0, json: JSON.stringify(result) }).toEqual({
      turns: true,
      json: JSON.stringify(JSON.parse(text)),
    })
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    await expect(readJsonInTurns(bytes(text), { maxValues: 1000 })).rejects.toMatchObject({ code: 'TOO_LARGE' })
    await expect(readJsonInTurns(bytes(text.slice(1)), {})).rejects.toMatchObject({ code: 'INPUT_INVALID' })
    const broken = new Uint8Array(300_000).fill(0xff)
    await expect(readJsonInTurns(broken, {})).rejects.toMatchObject({ code: 'BODY_INVALID' })
  })

  it('a long body is refused if a part of it that arrives at once has too many values', async () => {
    const bytes = (value: unknown) => new Uint8Array(Buffer.from(JSON.stringify(value)))
    const many = Array.from({ length: 60_000 }, (_, at) => `tag ${at}`)
    const keys = Object.fromEntries(many.map((key) => [key, 1]))
    const options = { maxValues: 1_000_000 }
    const refuse = (value: unknown) => expect(readJsonInTurns(bytes(value), options)).rejects
    await refuse({ bundle: { tools: [{ name: 'a' }, { name: 'b', tags: many }] } }).toMatchObject({
      code: 'TOO_LARGE',
      message: 'The part at /bundle/tools/1 has more than 20000 values.',
    })
    await refuse({ bundle: keys }).toMatchObject({ code: 'TOO_LARGE' })
    await refuse({ a: { b: { c: { d: many } } } }).toMatchObject({ code: 'TOO_LARGE' })
    expect(await readJsonInTurns(bytes({ bundle: { tags: many } }), options)).toEqual({ bundle: { tags: many } })
  })

  const choice = (levels: number): object =>
    levels === 0 ? { type: ['string', 'null'] } : { anyOf: [choice(levels - 1), choice(levels - 1)], minimum: 1 }

  it('large schemas are compared in a thread, with the same result as on this one', async () => {
    const tool = (inputSchema: object) => ({ name: 'a', inputSchema, outputSchema: {}, executorConfig: {} }) as never
    const [before, after] = [tool({ properties: { text: choice(9) } }), tool({ properties: { text: choice(8) } })]
    const { turns, result } = await turnsDuring(() => diffToolInThread(before, after))
    expect(turns).toBeGreaterThan(0)
    expect(result).toEqual(diffTools(before, after))
  })

  it('the definition of a large schema is made in a thread, and is the same as on this one', async () => {
    const named = (inputSchema: Record<string, unknown>) => ({ id: 'a', name: 'a', description: 'b.', inputSchema })
    for (const schema of [{ type: 'object', properties: { text: choice(9) } }, branching(9)])
      for (const format of ['gemini', 'openai', 'anthropic', 'mcp'] as const) {
        const { turns, result } = await turnsDuring(() => compileToolInThread(named(schema) as never, format))
        expect(result).toEqual(compileTool(named(schema) as never, format))
        if (format === 'gemini') expect(turns).toBeGreaterThan(0)
      }
  })

  it('secrets in a long output are replaced in a thread, in keys and numbers too', async () => {
    const rest = Array.from({ length: 60_000 }, (_, at) => `none ${at}`)
    const forms = ['hunter22', '12345678', ...Array.from({ length: 40 }, (_, at) => `form of a secret ${at}`)]
    const replacements = forms.map((form) => [form, '[redacted]'] as const)
    const json = JSON.stringify({ rest, hunter22: 1, a: 'is hunter22', b: 12345678 })
    const { turns, result } = await turnsDuring(() => replaceInOutput(json, replacements, true))
    const redacted = { rest, '[redacted]': 1, a: 'is [redacted]', b: '[redacted]' }
    expect({ turns: turns > 0, result: result === JSON.stringify(redacted) }).toEqual({ turns: true, result: true })
    expect(await replaceInOutput('is hunter22', replacements)).toBe('is [redacted]')
  })

  it('a long JSON output is stored as text, with a preview from a thread', async () => {
    const list = Array.from({ length: 20_000 }, (_, id) => ({ id, text: id === 3 ? 'a\u0000b' : 'a' }))
    const output = new JsonText(JSON.stringify(list))
    const outcome = { ...failedOutcome('', ''), status: 'SUCCESS' as const, output }
    const { turns, result } = await turnsDuring(() => shapeOutput(outcome, false, defaultRunSettings))
    expect(turns).toBeGreaterThan(0)
    expect(result.outputData).toContain('… (19980 more)')
    const stored = JSON.parse(result.stored?.content ?? '') as typeof list
    expect([stored.length, stored[3]?.text]).toEqual([20_000, 'a\uFFFDb'])
  })

  it('a long output is validated in a thread, which hands back the problems alone', async () => {
    const schema = { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } }
    const output = Array.from({ length: 20_000 }, (_, id) => ({ id }))
    const { turns, result } = await turnsDuring(() => validateValue(schema, output, { problemsOnly: true }))
    expect({ turns: turns > 0, result }).toEqual({ turns: true, result: { value: undefined, problems: [] } })
  })

  it('a pattern of a policy is matched in a thread where the value is long', async () => {
    const { turns, result } = await turnsDuring(() => matchPatterns([['[a-z]{1,500}', 'a'.repeat(5000)]]))
    expect({ turns: turns > 0, result }).toEqual({ turns: true, result: [false] })
    expect(await matchPatterns([['[a-z]{1,500}', 'abc']])).toEqual([true])
  })

  it('a thousand patterns of a policy are compiled and matched in a thread, or rejected as too much', async () => {
    const patterns = Array.from({ length: 1000 }, (_, index) => `[a-z]{${index % 400}}x?${'('.repeat(index % 2)}`)
    const compiled = await turnsDuring(() => findPatternFaults(patterns))
    expect([compiled.turns > 0, compiled.result.size]).toEqual([true, 200])
    const pairs = Array.from({ length: 1000 }, (_, index) => [`[a-z]{${index % 40}}`, 'a'.repeat(index % 10)] as const)
    const matched = await turnsDuring(() => matchPatterns(pairs))
    expect([matched.turns > 0, matched.result.filter(Boolean).length]).toEqual([true, 250])
    const huge = Array.from({ length: 1000 }, (_, index) => `[a-z]{1000}[a-z]{${index % 1000}}`)
    const limit = { code: 'INPUT_INVALID', message: expect.stringContaining('takes too long to compile 1000 patterns') }
    await expect(findPatternFaults(huge)).rejects.toMatchObject(limit)
  })

  it('a caller that fills the threads and the line takes neither from another', async () => {
    const stopping = new AbortController()
    const text = JSON.stringify(Array.from({ length: 4000 }, (_, index) => ({ a: { b: { d: index } } })))
    const heavy = () => findInJsonText(text, '$..[?@..[?@..[?@..c]]]', stopping.signal)
    const outcomes: unknown[] = []
    const flood = Array.from({ length: 60 }, () =>
      workFor('one', heavy).catch((error: unknown) => void outcomes.push((error as { code?: unknown }).code)),
    )
    const valid = await workFor('other', () => validateValue(withPattern, { text: 'a'.repeat(300) }))
    expect(valid.problems).toEqual([])
    expect(outcomes.filter((code) => code === 'TOO_BUSY')).toHaveLength(60 - 2 - 20)
    stopping.abort()
    await Promise.all(flood)
  })

  it('thousands of unknown properties get a bounded number of problems and suggestions', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `property_with_a_long_name_${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
    const schema = { type: 'object', properties, additionalProperties: false }
    const input = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`propertx_with_a_long_name_${at}`, 'a']))
    const { problems } = await validateValue(schema, input)
    expect(problems).toHaveLength(100)
    const suggested = problems.filter(({ message }) => message.includes('did you mean'))
    expect(suggested.length).toBeGreaterThan(0)
    expect(suggested.length).toBeLessThan(50)
  })

  it('whatever is generated gets an answer, small or large', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const random = createRandom(seed)
        const schema = hostileSchema(random)
        if ((await checkSchemaText(schema, '')).length > 0) return
        const { problems } = await validateValue(schema, hostileArguments(random))
        for (const { message } of problems) expect(message).not.toBe('')
        const path = random.pick(paths)
        await findInJsonText(JSON.stringify({ items: [{ name: 'a', c: 1 }] }), path).catch((error) =>
          expect(error).toMatchObject({ code: 'INPUT_INVALID' }),
        )
      }),
      { numRuns: 40, seed: 3 },
    )
  })

  it('bodies are bounded by how many values they hold, whatever their size', () => {
    const many = JSON.stringify(Array.from({ length: 1000 }, () => 1))
    expect(readJson(many, { maxValues: 1001 })).toHaveLength(1000)
    expect(() => readJson(many, { maxValues: 1000 })).toThrow('more than 1000 values')
  })
})
