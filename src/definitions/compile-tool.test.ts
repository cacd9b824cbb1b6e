import { describe, expect, it } from 'vitest'
import { deepFreeze } from '../base/json-values.ts'
import { LlmDefinition, LlmFormat, type LlmTool, type Loss } from '../contract/llm.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { compileTool } from './compile-tool.ts'

const toolOf = (inputSchema: JsonSchema, more: Partial<LlmTool> = {}): LlmTool =>
  deepFreeze({ id: 'send_report', name: 'send_report', description: 'Sends a report.', inputSchema, ...more })

/** Pointer and name of each loss; those of the input schema are told from it, since nearly all are. */
const lostOf = (losses: readonly Loss[]) =>
  losses.map(({ pointer, lost }) => `${pointer.replace(/^\/inputSchema(?=\/|$)/, '')} ${lost}`)

const property = (schema: JsonSchema) => ({ type: 'object', properties: { a: schema } })

function gemini(schema: JsonSchema, rest: JsonSchema = {}) {
  const { definition, losses } = compileTool(toolOf({ ...property(schema), ...rest }), 'gemini')
  const { parameters } = definition as unknown as { parameters: { properties: Record<string, unknown> } }
  return { a: parameters.properties.a, lost: lostOf(losses) }
}

function rootOf(schema: JsonSchema, format: LlmFormat) {
  const { definition, losses, wrappedAs } = compileTool(toolOf(schema), format)
  const found = definition as unknown as Record<string, JsonSchema>
  const inner = (found.function ?? found) as Record<string, JsonSchema>
  const root = inner.parameters ?? inner.input_schema ?? inner.inputSchema
  return { root, strict: inner.strict, wrappedAs, lost: lostOf(losses) }
}

describe('the shape of a definition', () => {
  const schema = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] }
  const tool = toolOf(schema, { displayName: 'Send report', annotations: { readOnlyHint: false } })

  it('is that of each provider', () => {
    const common = { name: 'send_report', description: 'Sends a report.' }
    const of = (format: LlmFormat) => compileTool(tool, format).definition
    expect(of('mcp')).toEqual({
      ...common,
      title: 'Send report',
      inputSchema: schema,
      annotations: { readOnlyHint: false },
    })
    expect(of('openai')).toEqual({ type: 'function', function: { ...common, parameters: schema, strict: false } })
    expect(of('anthropic')).toEqual({ ...common, input_schema: schema })
    expect(of('gemini')).toEqual({ ...common, parameters: schema })
    for (const format of LlmFormat.options) {
      expect(LlmDefinition.parse(of(format))).toEqual(of(format))
      const hint = {
        pointer: '/annotations/readOnlyHint',
        lost: 'readOnlyHint',
        why: expect.stringContaining('annotations'),
      }
      expect(compileTool(tool, format).losses).toEqual(format === 'mcp' ? [] : [hint])
    }
  })

  it('defers loading where the provider can', () => {
    const of = (format: LlmFormat) => compileTool(tool, format, { deferLoading: true }).definition
    expect(of('anthropic')).toMatchObject({ input_schema: schema, defer_loading: true })
    expect(of('openai')).toMatchObject({ type: 'function', name: 'send_report', defer_loading: true })
    expect(of('gemini')).not.toHaveProperty('defer_loading')
    expect(of('mcp')).not.toHaveProperty('defer_loading')
  })

  it('leaves out parameters of Gemini where there are none', () => {
    expect(compileTool(toolOf({}), 'gemini')).toEqual({
      name: 'send_report',
      definition: { name: 'send_report', description: 'Sends a report.' },
      losses: [],
    })
    expect(lostOf(compileTool(toolOf({ type: 'object', description: 'None.' }), 'gemini').losses)).toEqual([' schema'])
    expect(rootOf({}, 'openai').root).toEqual({ type: 'object', properties: {} })
  })

  it('truncates a long description, and reports it', () => {
    const { definition, losses } = compileTool(toolOf(schema, { description: 'x'.repeat(3000) }), 'openai')
    expect((definition as { function: { description: string } }).function.description).toHaveLength(1024)
    expect(losses).toEqual([expect.objectContaining({ pointer: '/description', lost: 'description' })])
  })

  it('adds example requests only on request', () => {
    const asked = compileTool(toolOf(schema, { exampleRequests: ['mail it', 'b'] }), 'mcp', { exampleRequests: 1 })
    expect(asked.definition).toMatchObject({ description: 'Sends a report.\nFor requests such as:\n- mail it' })
  })

  it('keeps an output schema for MCP, and reports it elsewhere', () => {
    const given = toolOf(schema, { outputSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } })
    expect(compileTool(given, 'mcp')).toMatchObject({ losses: [], definition: { outputSchema: given.outputSchema } })
    for (const format of ['openai', 'anthropic', 'gemini'] as const)
      expect(lostOf(compileTool(given, format).losses)).toEqual(['/outputSchema outputSchema'])
    const listed = toolOf(schema, { outputSchema: { type: 'array' } })
    expect(lostOf(compileTool(listed, 'mcp').losses)).toEqual(['/outputSchema outputSchema'])
    const either = toolOf(schema, { outputSchema: { type: ['object', 'null'] } })
    expect(lostOf(compileTool(either, 'mcp').losses)).toEqual(['/outputSchema/type type'])
  })

  it('reports pointers relative to the tool', () => {
    const { losses } = compileTool(toolOf(property({ type: 'string', format: 'uri' })), 'gemini')
    expect(losses).toMatchObject([{ pointer: '/inputSchema/properties/a/format', lost: 'format' }])
  })

  it('has no place for annotations but at MCP; a title is for people', () => {
    const annotations = { title: 'T', destructiveHint: true, requiresApproval: true, 'x/y': 1 }
    const lost = ['destructiveHint', 'requiresApproval', 'x/y'].map(
      (name) => `/annotations/${name.replace('/', '~1')} ${name}`,
    )
    for (const format of ['openai', 'anthropic', 'gemini'] as const)
      expect(lostOf(compileTool(toolOf(schema, { annotations }), format).losses)).toEqual(lost)
    expect(compileTool(toolOf(schema, { annotations }), 'mcp')).toMatchObject({
      losses: [],
      definition: { annotations },
    })
  })
})

describe('strict mode of OpenAI', () => {
  const closed = (properties: JsonSchema, more: JsonSchema = {}) => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...more,
  })

  it('is used where nothing is lost by it', () => {
    expect(rootOf(closed({ a: { type: ['string', 'null'] } }), 'openai')).toMatchObject({ strict: true, lost: [] })
    const tree = { $ref: '#/$defs/tree' }
    const recursive = closed({ tree }, { $defs: { tree: closed({ next: { anyOf: [tree, { type: 'null' }] } }) } })
    expect(rootOf(recursive, 'openai')).toMatchObject({ strict: true, lost: [], root: recursive })
    const tagged = (kind: string) => closed({ kind: { type: 'string', const: kind } })
    const union = rootOf(closed({ a: { oneOf: [tagged('x'), tagged('y')] } }), 'openai')
    expect(union).toMatchObject({ strict: true, lost: [], root: { properties: { a: { anyOf: [{}, {}] } } } })
  })

  it.each([
    ['optional', { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }],
    ['open', { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }],
    ['bounded text', closed({ a: { type: 'string', minLength: 2 } })],
    ['default', closed({ a: { type: 'string', default: 'x' } })],
    ['overlapping oneOf', closed({ a: { oneOf: [{ type: 'number' }, { type: 'integer' }] } })],
    ['untyped', closed({ a: {} })],
  ])('is not used for a schema that is %s, and nothing is lost', (_, schema) => {
    expect(rootOf(schema, 'openai')).toMatchObject({ strict: false, lost: [], root: schema })
  })
})

describe('the top level', () => {
  it.each(['openai', 'anthropic', 'gemini'] as const)(
    'takes no alternatives at %s: they are put together',
    (format) => {
      const one = { type: 'object', properties: { a: { type: 'string' }, k: { type: 'string' } }, required: ['a', 'k'] }
      const other = {
        type: 'object',
        properties: { b: { type: 'string' }, k: { type: 'string' } },
        required: ['b', 'k'],
      }
      const { root, lost } = rootOf({ oneOf: [one, { $ref: '#/$defs/other' }], $defs: { other } }, format)
      expect(root).toEqual({ type: 'object', properties: { ...one.properties, ...other.properties }, required: ['k'] })
      expect(lost).toEqual(['/oneOf oneOf'])
    },
  )

  it.each(LlmFormat.options)('is wrapped for %s where it is not an object', (format) => {
    const { root, lost, wrappedAs } = rootOf({ type: 'array', items: { type: 'string' } }, format)
    const value = { type: 'array', items: { type: 'string' } }
    expect(root).toEqual({ type: 'object', properties: { value }, required: ['value'] })
    expect([wrappedAs, lost]).toEqual(['value', [' shape']])
  })

  it('follows a reference and merges allOf without loss', () => {
    const schema = {
      allOf: [{ $ref: '#/definitions/base' }, property({ type: 'string' })],
      definitions: { base: { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] } },
    }
    for (const format of ['openai', 'anthropic', 'gemini'] as const) {
      const { root, lost } = rootOf(schema, format)
      expect(root).toEqual({
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'integer' } },
        required: ['b'],
      })
      expect(lost).toEqual([])
    }
  })

  it('leaves out arguments whose names would be refused', () => {
    const { root, lost } = rootOf({ ...property({ type: 'string' }), required: ['a b'] }, 'anthropic')
    expect([root?.required, lost]).toEqual([['a b'], []])
    const spaced = rootOf({ properties: { 'a/b': { type: 'string' } }, required: ['a/b'] }, 'anthropic')
    expect(spaced).toMatchObject({
      root: { properties: {}, required: [] },
      lost: ['/properties/a~1b argument', '/required required'],
    })
  })
})

describe('references', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/definitions/node' } } }

  it('are kept under $defs where the provider takes them', () => {
    const { root, lost } = rootOf({ ...property({ $ref: '#/definitions/node' }), definitions: { node } }, 'anthropic')
    const next = { $ref: '#/$defs/node' }
    expect(root).toEqual({ ...property(next), $defs: { node: { type: 'object', properties: { next } } } })
    expect(lost).toEqual([])
  })

  it('are written out for Gemini, and cut where they never end', () => {
    const { a, lost } = gemini({ $ref: '#/definitions/node' }, { definitions: { node } })
    expect(a).toMatchObject({ type: 'object', properties: { next: { type: 'object', properties: { next: {} } } } })
    expect(lost).toContain('/definitions/node/properties/next/$ref recursive $ref')
  })

  it('by anchor are followed', () => {
    const schema = { ...property({ $ref: '#node' }), $defs: { one: { $anchor: 'node', type: 'string' } } }
    expect(rootOf(schema, 'gemini')).toMatchObject({ root: property({ type: 'string' }), lost: [] })
    expect(rootOf(schema, 'openai').root).toMatchObject({ properties: { a: { $ref: '#/$defs/one' } } })
  })

  it('of draft-07 hide their sibling keywords', () => {
    const $schema = 'http://json-schema.org/draft-07/schema#'
    const a = { $ref: '#/definitions/one', description: 'd', minLength: 3 }
    const stored = { $schema, ...property(a), definitions: { one: { type: 'string' } } }
    for (const format of ['openai', 'anthropic', 'gemini'] as const) {
      const { root, lost } = rootOf(stored, format)
      expect(JSON.stringify(root)).not.toContain('minLength')
      expect(lost).toEqual(['/properties/a/minLength minLength'])
    }
  })

  it('that point nowhere are reported', () => {
    expect(rootOf(property({ $ref: 'https://example.com/a.json' }), 'openai').lost).toEqual(['/properties/a/$ref $ref'])
    expect(gemini({ $ref: '#/$defs/none' }).lost).toContain('/properties/a/$ref $ref')
  })

  it('do not explode', () => {
    const level = (at: number) => ({
      type: 'object',
      properties: { l: { $ref: `#/$defs/d${at}` }, r: { $ref: `#/$defs/d${at}` } },
    })
    const $defs = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`d${at}`, level(at + 1)]))
    const { definition, losses } = compileTool(toolOf({ ...level(0), $defs: { ...$defs, d30: {} } }), 'gemini')
    expect(JSON.stringify(definition).length).toBeLessThan(1_500_000)
    expect(losses.map(({ why }) => why).join()).toContain('too large')
  })
})

describe('a keyword that a provider does not have', () => {
  const values = {
    examples: ['x'],
    'x-own': 1,
    multipleOf: 2,
    uniqueItems: true,
    deprecated: true,
    contentEncoding: 'base64',
  }
  it.each(Object.entries(values))('%s is reported where it stood', (key, value) => {
    const type = { multipleOf: 'number', uniqueItems: 'array' }[key] ?? 'string'
    const items = type === 'array' ? { items: { type: 'string' } } : {}
    expect(gemini({ type, ...items, [key]: value })).toEqual({
      a: { type, ...items },
      lost: [`/properties/a/${key} ${key}`],
    })
    const kept = rootOf(property({ type, ...items, [key]: value }), 'anthropic')
    expect(kept.lost).toEqual(key === 'x-own' ? ['/properties/a/x-own x-own'] : [])
  })

  it('is not lost silently when two schemas become one', () => {
    const outer = {
      description: 'outer',
      default: 'o',
      allOf: [{ type: 'string', description: 'inner', default: 'i' }],
    }
    const a = { type: 'string', description: 'outer\ninner', default: 'o' }
    expect(gemini(outer)).toEqual({ a, lost: ['/properties/a/allOf/0/default default'] })
  })
})

describe('a schema that is too deep or too large', () => {
  it.each(LlmFormat.options)('is cut for %s, with a loss', (format) => {
    let deep: JsonSchema = { type: 'string' }
    for (let depth = 0; depth < 1000; depth += 1) deep = property(deep)
    const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`p${at}`, { type: 'string' }]))
    for (const schema of [deep, { type: 'object', properties: many }]) {
      const { definition, losses } = compileTool(toolOf(schema), format)
      expect(JSON.stringify(definition).length).toBeLessThan(300_000)
      expect(losses).toContainEqual(expect.objectContaining({ lost: 'schema' }))
    }
  })
})

describe('the words of Gemini', () => {
  it.each<[string, JsonSchema, unknown, string[]]>([
    ['null among types', { type: ['string', 'null'] }, { type: 'string', nullable: true }, []],
    ['nullable of OpenAPI', { type: 'string', nullable: true }, { type: 'string', nullable: true }, []],
    ['const', { const: 'x' }, { type: 'string', enum: ['x'] }, []],
    [
      'several types',
      { type: ['string', 'integer'], minLength: 1 },
      { anyOf: [{ type: 'string', minLength: 1 }, { type: 'integer' }] },
      [],
    ],
    [
      'null among parts',
      { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'd' },
      { type: 'string', nullable: true, description: 'd' },
      [],
    ],
    [
      'exclusive oneOf',
      { oneOf: [{ type: 'string' }, { type: 'boolean' }] },
      { anyOf: [{ type: 'string' }, { type: 'boolean' }] },
      [],
    ],
    [
      'oneOf',
      { oneOf: [{ type: 'number' }, { type: 'integer' }] },
      { anyOf: [{ type: 'number' }, { type: 'integer' }] },
      ['/properties/a/oneOf oneOf'],
    ],
    [
      'numbers listed',
      { type: 'integer', enum: [1, 2] },
      { type: 'integer', description: 'One of: 1, 2' },
      ['/properties/a/enum enum'],
    ],
    ['a format it has', { type: 'string', format: 'date-time' }, { type: 'string', format: 'date-time' }, []],
    ['a format it has not', { type: 'string', format: 'uri' }, { type: 'string' }, ['/properties/a/format format']],
    ['whole bounds', { type: 'integer', exclusiveMinimum: 2 }, { type: 'integer', minimum: 3 }, []],
    [
      'open bounds',
      { type: 'number', exclusiveMinimum: 2 },
      { type: 'number', minimum: 2 },
      ['/properties/a/exclusiveMinimum exclusiveMinimum'],
    ],
    [
      'closed objects',
      { type: 'object', properties: {}, additionalProperties: false },
      { type: 'object', properties: {} },
      ['/properties/a/additionalProperties additionalProperties'],
    ],
    ['open objects', { type: 'object', additionalProperties: true }, { type: 'object' }, []],
    [
      'tuples of draft-07',
      { type: 'array', items: [{ type: 'string' }] },
      { type: 'array', items: { type: 'string' } },
      ['/properties/a/items items'],
    ],
    [
      'no type',
      { properties: { b: { type: 'string' } } },
      { type: 'object', properties: { b: { type: 'string' } } },
      ['/properties/a any other type'],
    ],
    [
      'allOf',
      {
        allOf: [
          { type: 'string', minLength: 1 },
          { minLength: 3, maxLength: 4 },
        ],
      },
      { type: 'string', minLength: 3, maxLength: 4 },
      [],
    ],
    ['not', { type: 'string', not: { const: 'x' } }, { type: 'string' }, ['/properties/a/not not']],
    ['not of anything', { type: 'string', not: {} }, { type: 'string' }, ['/properties/a/not not']],
    [
      'not without a type',
      { not: { type: 'null' }, description: 'd' },
      { anyOf: expect.arrayContaining([{ type: 'string', description: 'd', nullable: true }]) },
      ['/properties/a/not not', '/properties/a any type'],
    ],
    [
      'a format of one of the types',
      { type: ['string', 'integer'], format: 'date-time' },
      { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'integer' }] },
      [],
    ],
    ['values of one of the types', { type: ['string', 'integer'], enum: ['x'] }, { type: 'string', enum: ['x'] }, []],
    ['keywords of another type', { type: 'string', minimum: 2 }, { type: 'string' }, ['/properties/a/minimum minimum']],
    [
      'null only',
      { type: 'null', title: 't', default: null },
      { type: 'string', title: 't', nullable: true },
      ['/properties/a/type type', '/properties/a/default default'],
    ],
    [
      'null in a type',
      { anyOf: [{ type: 'string' }, { type: 'null', description: 'none' }] },
      { type: 'string', nullable: true },
      ['/properties/a/anyOf/1/description description'],
    ],
    [
      'parts that cannot be put together',
      { allOf: [{ type: 'string', pattern: 'a' }, { pattern: 'b' }] },
      { type: 'string', pattern: 'a' },
      ['/properties/a/allOf/1 part of allOf'],
    ],
    [
      'a keyword of a part',
      { allOf: [{ type: 'string' }, { contentEncoding: 'base64' }] },
      { type: 'string' },
      ['/properties/a/allOf/1/contentEncoding contentEncoding'],
    ],
    [
      'closed tuples',
      { type: 'array', prefixItems: [{ type: 'string' }], items: false },
      { type: 'array', items: { type: 'string' } },
      ['/properties/a/prefixItems prefixItems', '/properties/a/items items'],
    ],
  ])('say %s', (_, schema, expected, lost) => {
    expect(gemini(schema)).toEqual({ a: expected, lost })
  })

  it('say true and false as any value, with a loss', () => {
    const { definition, losses } = compileTool(toolOf({ properties: { a: true, b: false } }), 'gemini')
    expect(definition).toMatchObject({ parameters: { properties: { a: { anyOf: expect.any(Array) } } } })
    expect(losses.map(({ lost }) => lost)).toEqual(['any type', 'false'])
  })
})
