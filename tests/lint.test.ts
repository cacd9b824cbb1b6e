import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { composeProcess } from '../src/app/compose.ts'
import { invoke } from '../src/operations/invoke.ts'
import { lintCatalog } from '../src/operations/lint/lint-catalog.ts'
import { lintSchema } from '../src/operations/lint/lint-schemas.ts'
import { openRegistry } from './support/open-registry.ts'
import { draft } from './support/rest.ts'
import { runInProcess } from './support/run-in-process.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

const lint = (configs?: readonly string[]) => invoke(lintCatalog, {}, composeProcess({ configs }))

interface Tool {
  readonly name: string
  readonly description: string
  readonly args?: readonly object[]
  readonly example_requests?: readonly string[]
}

/** JSON is YAML. */
const config = (tools: readonly Tool[], name = 'demo', folder = tempFolder()) =>
  tempFile(`${name}.yaml`, JSON.stringify({ name, description: 'A demo.', command: 'echo', tools }), folder)

const argument = (name: string) => ({ name, description: `The ${name} to use.` })

const clean: readonly Tool[] = [
  {
    name: 'bake_cake',
    description: 'Bakes a cake in the oven and prints how long it took.',
    args: [argument('flavour'), { ...argument('size'), enum: ['small', 'large'], default: 'small' }],
    example_requests: ['bake a chocolate cake'],
  },
  {
    name: 'water_plants',
    description: 'Opens the valve of the garden hose for some minutes.',
    args: [argument('minutes')],
    example_requests: ['give the garden some water'],
  },
]

/** The rules that speak of a tool when it is added to the clean ones. */
async function rulesFor(...tools: Tool[]): Promise<readonly string[]> {
  const { findings } = await lint([config([...clean, ...tools])])
  return findings.map((finding) => finding.rule)
}

const quiet = 'Plays the lowest note of the piano for a second.'

describe('lint', () => {
  it('contains the changes that are stored', async () => {
    const { request, close } = await openRegistry()
    const { body } = await request('POST', '/tools', { body: draft('bake_cake') })
    await request('POST', `/tools/${body.id}/activate`)
    expect((await request('GET', '/lint')).body).toMatchObject({ tools: 1 })
    await close()
  })

  it('reports nothing for a clean config', async () => {
    const answer = await lint([config(clean)])
    expect(answer.findings).toEqual([])
    expect(answer).toMatchObject({ score: 100, tools: 2, sources: [{ source: 'demo', tools: 2 }] })
    expect(answer.tokens).toBeGreaterThan(50)
    expect(answer.summary).toMatch(/^100 of 100: 2 tool\(s\), \d+ tokens, 0 error/)
  })

  it.each<[string, Tool]>([
    ['missing-description', { name: 'mute', description: ' ' }],
    ['short-description', { name: 'terse', description: 'Does it.' }],
    ['long-name', { name: 'a_name_that_goes_on_and_on_until_no_client_can_show_it', description: quiet }],
    ['odd-name', { name: 'piano.play', description: quiet }],
    ['ambiguous-name', { name: 'cakeBake', description: quiet }],
    ['undescribed-arguments', { name: 'play', description: quiet, args: [{ name: 'loud' }] }],
    ['near-duplicate', { name: 'make_pie', description: 'Bakes a cake in the oven, and prints how long this took.' }],
  ])('%s', async (rule, tool) => {
    expect(await rulesFor(tool)).toEqual([rule])
  })

  it('not-found', async () => {
    const texts = [
      'Melts butter.',
      'Whips cream.',
      'Sells at the market.',
      'Draws with a pencil.',
      'Hides in a box.',
      'Cuts it up.',
    ]
    const cakes = texts.map((text, index) => ({ name: `cake_${'abcdef'[index]}`, description: `${text} Cake ${text}` }))
    const play = { name: 'play', description: quiet, example_requests: ['cake'] }
    const { findings } = await lint([config([...cakes, play])])
    const message = expect.stringContaining('not in the first 5 for 1 of 1 example requests: "cake" finds cake_')
    expect(findings).toMatchObject([{ rule: 'not-found', severity: 'warning', tool: 'play', message }])
  })

  it('many-arguments and costly-tool', async () => {
    const args = Array.from({ length: 40 }, (_, index) => argument(`a_rather_long_argument_name_number_${index}`))
    expect(await rulesFor({ name: 'play', description: quiet, args })).toEqual(['many-arguments', 'costly-tool'])
  })

  it('costly-source', async () => {
    const args = Array.from({ length: 15 }, (_, index) => argument(`arg_${index}`))
    const tools = Array.from({ length: 60 }, (_, index) => {
      return { name: `unique${index}`, description: `Word${index} other${index} third${index} fourth${index}.`, args }
    })
    const { findings } = await lint([config(tools)])
    expect(findings.filter((finding) => finding.rule === 'costly-source')).toMatchObject([
      { tool: 'demo', severity: 'info' },
    ])
  })

  it('finds near-duplicates in two sources', async () => {
    const other = config([{ name: 'cook', description: clean[0]?.description ?? '' }], 'other')
    const { findings, score } = await lint([config(clean), other])
    expect(findings).toMatchObject([{ rule: 'near-duplicate', message: expect.stringContaining('100% of the words') }])
    expect(score).toBeLessThan(100)
  })

  it.each<[string, string, object]>([
    ['broken-schema', "'a' has an empty enum", { properties: { a: { enum: [] } } }],
    [
      'broken-schema',
      "'a' has a minimum of 3 above its maximum of 2",
      { properties: { a: { minimum: 3, maximum: 2 } } },
    ],
    ['broken-schema', "requires 'b'", { properties: { a: {} }, required: ['b'], additionalProperties: false }],
    ['broken-schema', 'no value of its enum is', { properties: { a: { type: 'integer', enum: ['1'] } } }],
    ['broken-schema', "'a[].b' allows no value", { properties: { a: { items: { properties: { b: false } } } } }],
    ['suspicious-schema', "requires 'b'", { properties: { a: {} }, required: ['b'] }],
    ['suspicious-schema', 'has the default "z"', { properties: { a: { enum: ['x'], default: 'z' } } }],
    [
      'broken-schema',
      "'a' has a minimum of 3 above its maximum of 2",
      { properties: { a: { $ref: '#low', minimum: 3 } }, $defs: { low: { $anchor: 'low', maximum: 2 } } },
    ],
    ['broken-schema', "'a' allows no value", { properties: { a: { $ref: '#/$defs/none' } }, $defs: { none: false } }],
    ['broken-schema', "'a[0]' has an empty enum", { properties: { a: { prefixItems: [{ enum: [] }], items: false } } }],
  ])('%s: %s', (rule, message, inputSchema) => {
    expect(lintSchema(toolWith(inputSchema))).toMatchObject([{ rule, message: expect.stringContaining(message) }])
  })

  it('lets sound schemas pass', () => {
    const properties = {
      a: { type: 'integer', minimum: 1, maximum: 1, default: 1, enum: [1] },
      b: { items: { minLength: 1 } },
    }
    expect(lintSchema(toolWith({ type: 'object', properties, required: ['a'] }))).toEqual([])
    expect(
      lintSchema(toolWith({ allOf: [{ properties }], anyOf: [{ properties: { c: {} } }], required: ['a', 'c'] })),
    ).toEqual([])
    const patternProperties = { '^x-': {} }
    expect(lintSchema(toolWith({ patternProperties, required: ['x-a'], additionalProperties: false }))).toEqual([])
    const tree = { properties: { left: { $ref: '#' }, right: { $ref: '#' } }, required: ['left'] }
    expect(lintSchema(toolWith(tree))).toEqual([])
    for (const schema of [{}, { properties: null, required: 'a', enum: 3 }])
      expect(lintSchema(toolWith(schema))).toEqual([])
  })

  it('finds no error in the bundled configs', async () => {
    const answer = await lint()
    console.log(`bundled configs: ${answer.summary}`)
    expect(answer.counts.error).toBe(0)
    expect(answer.score).toBeGreaterThan(95)
  })
})

describe('tooldex lint', () => {
  const run = (...words: string[]) => runInProcess(['lint', ...words])

  it('groups by rule, shows ten of each, and fails only with --max-findings', async () => {
    const folder = tempFolder()
    const tools = Array.from({ length: 12 }, (_, index) => ({ name: `tool${index}`, description: `Nr ${index}.` }))
    config(tools, 'many', folder)
    const file = join(folder, 'many.yaml')
    const { code, out } = await run(file)
    expect(code).toBe(0)
    expect(out).toMatch(/short-description \(12\)/)
    expect(out.match(/too short to choose the tool by/g)).toHaveLength(10)
    expect(out).toContain('and 2 more')
    const strict = await run(file, '--max-findings', '3', '--json')
    expect([strict.code, strict.err]).toEqual([1, expect.stringMatching(/^\d+ findings are more than the 3 allowed/)])
    expect(JSON.parse(strict.out).findings[0]).toEqual({
      rule: 'short-description',
      severity: 'warning',
      tool: 'tool0',
      message: '"Nr 0." is too short to choose the tool by',
      hint: expect.any(String),
    })
  })
})

const toolWith = (inputSchema: object) => ({
  toolName: 't',
  description: 'd',
  cliName: 'c',
  category: null,
  tags: [],
  inputSchema: inputSchema as Record<string, unknown>,
  exampleRequests: [],
})
