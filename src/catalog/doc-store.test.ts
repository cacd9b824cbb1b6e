import { describe, expect, it } from 'vitest'
import type { CatalogToolInput } from '../contract/catalog.ts'
import type { DetailLevel, ToolExample } from '../contract/tool-doc.ts'
import { Catalog } from './catalog.ts'
import { DocStore, readSchemaInfo } from './doc-store.ts'

const commit: CatalogToolInput = {
  namespace: 'git',
  name: 'commit',
  description: 'Record changes. '.repeat(30),
  inputSchema: {
    type: 'object',
    properties: { message: { type: 'string' }, depth: { type: ['integer', 'null'], default: 1 } },
    required: ['message'],
  },
  annotations: { title: 'Commit', destructiveHint: false },
  inputModes: ['application/json'],
  securitySummary: 'apiKey',
}
const example: ToolExample = { description: 'A commit', args: { message: 'x' }, resultHint: 'The hash' }

/** A store over a catalog of one tool. */
function opened(rest: Partial<CatalogToolInput> = {}) {
  const catalog = new Catalog()
  catalog.register({ ...commit, ...rest }, { kind: 'local', name: 'x' })
  return new DocStore({ resolve: (id) => catalog.get(id)?.tool ?? null })
}

const nested = (depth: number): Record<string, unknown> => (depth === 1 ? {} : { in: nested(depth - 1) })
const wide = (size: number) => ({ list: Array(size - 1).fill(0) })

describe('describe', () => {
  it('has the summary only, then the tool, then everything', () => {
    const store = opened()
    const doc = {
      summary: 'Commit it',
      notes: 'Mind the hooks',
      examples: [example],
      externalRefs: ['https://git-scm.com'],
    }
    store.registerDoc('git:commit', doc)
    expect(store.describe('git:commit', 'summary')).toEqual({ summary: 'Commit it' })
    const schema = store.describe('git:commit', 'schema')
    expect(schema).toEqual({
      summary: 'Commit it',
      tool: expect.objectContaining({ name: 'commit', inputSchema: commit.inputSchema }),
      inputModes: ['application/json'],
      outputModes: [],
      securitySummary: 'apiKey',
      annotations: { title: 'Commit', destructiveHint: false, idempotentHint: false, readOnlyHint: false },
      schemaInfo: {
        required: ['message'],
        defaults: { depth: 1 },
        types: { message: ['string'], depth: ['integer', 'null'] },
      },
    })
    expect(store.describe('git:commit', 'full')).toEqual({ ...schema, ...doc })
  })

  it('B3.24: rejects an invalid level, an unknown id, and a document without its tool', () => {
    const store = opened()
    store.registerDoc('d', { summary: 'About nothing' })
    const refused = (code: string, message: string) => expect.objectContaining({ code, message })
    const bogus = 'bogus' as DetailLevel
    expect(() => store.describe('git:commit', bogus)).toThrow(refused('INPUT_INVALID', 'invalid detail level: bogus'))
    expect(() => store.describe('nope', 'summary')).toThrow(refused('TOOL_NOT_FOUND', 'tool not found: nope'))
    expect(() => store.listExamples('nope')).toThrow(refused('TOOL_NOT_FOUND', 'tool not found: nope'))
    expect(store.describe('d', 'summary')).toEqual({ summary: 'About nothing' })
    for (const level of ['schema', 'full'] as const) {
      const message = 'tool required for schema/full level: d'
      expect(() => store.describe('d', level)).toThrow(refused('TOOL_NOT_FOUND', message))
    }
  })

  it('B3.24: lets errors of the resolver through', () => {
    const failure = new Error('the registry is away')
    const store = new DocStore({
      resolve: () => {
        throw failure
      },
    })
    expect(() => store.describe('a', 'full')).toThrow(failure)
  })

  it('B3.25: falls back to the tool, and cuts to 200', () => {
    const { summary } = opened().describe('git:commit', 'summary')
    expect(summary).toBe(commit.description?.slice(0, 200))
    expect(opened({ summary: 'Short' }).describe('git:commit', 'summary')).toEqual({ summary: 'Short' })
  })

  it('cuts summaries and notes between characters', () => {
    const store = opened()
    store.registerDoc('git:commit', { summary: `a${'😀'.repeat(150)}`, notes: `a${'😀'.repeat(1500)}` })
    const { summary, notes } = store.describe('git:commit', 'full')
    expect([summary, notes]).toEqual([`a${'😀'.repeat(99)}`, `a${'😀'.repeat(999)}`])
  })

  it('B3.27: annotations contain both hints where a tool has annotations', () => {
    const shown = (annotations?: CatalogToolInput['annotations']) =>
      opened({ annotations }).describe('git:commit', 'schema').annotations
    expect(shown({ readOnlyHint: true })).toEqual({ readOnlyHint: true, idempotentHint: false })
    expect(shown({})).toEqual({ readOnlyHint: false, idempotentHint: false })
    expect(shown(undefined)).toBeUndefined()
  })

  it('finds a document by the bare name of its tool', () => {
    const store = opened()
    store.registerDoc('git:commit', { summary: 'Found' })
    expect(store.describe('commit', 'summary')).toEqual({ summary: 'Found' })
  })
})

describe('examples', () => {
  it('replace the ones before, as a document replaces everything', () => {
    const store = opened()
    store.registerDoc('git:commit', { notes: 'Kept', examples: [example, example] })
    store.registerExamples('git:commit', [example])
    expect(store.describe('git:commit', 'full')).toMatchObject({ notes: 'Kept', examples: [example] })
    store.registerDoc('git:commit', { summary: 'New' })
    expect(store.describe('git:commit', 'full')).toMatchObject({ summary: 'New', examples: [], externalRefs: [] })
    expect(store.describe('git:commit', 'full')).not.toHaveProperty('notes')
  })

  it('B3.26: are listed up to the limit: none for 0, all by default', () => {
    const store = opened()
    const three = ['1', '2', '3'].map((description) => ({ description, args: {} }))
    store.registerExamples('git:commit', three)
    const count = (most?: number) => store.listExamples('git:commit', most).length
    expect([count(), count(0), count(2), count(9)]).toEqual([3, 0, 2, 3])
    expect(store.listExamples('git:commit', 1)).toEqual([three[0]])
    expect(() => count(-1)).toThrow('max must not be negative')
    expect(opened().listExamples('git:commit')).toEqual([])
  })

  it('within the limits are kept', () => {
    const store = opened()
    const most = [
      { description: 'x'.repeat(300), args: nested(5), resultHint: 'x'.repeat(200) },
      { description: '', args: wide(50) },
    ]
    store.registerExamples('git:commit', most)
    expect(store.listExamples('git:commit')).toEqual(most)
  })

  it('may lack arguments, keep a title, and have their texts cut by the rule for all texts', () => {
    const store = opened()
    const long = { title: 't'.repeat(200), description: `${'x'.repeat(299)}\u{1f98a}`, resultHint: 'y'.repeat(201) }
    const cut = { title: 't'.repeat(120), description: 'x'.repeat(299), resultHint: 'y'.repeat(200) }
    store.registerDoc('git:commit', { summary: 's'.repeat(201), notes: 'n'.repeat(2001), examples: [long] })
    expect(store.describe('git:commit', 'full')).toMatchObject({
      summary: 's'.repeat(200),
      notes: 'n'.repeat(2000),
      examples: [cut],
    })
    store.registerExamples('git:commit', [long])
    expect(store.listExamples('git:commit')).toEqual([cut])
  })

  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  it.each([
    ['deep arguments', { args: nested(6) }, /args nest deeper than 5 levels/],
    ['deep lists', { args: { a: [[[[[]]]]] } }, /args nest deeper than 5 levels/],
    ['a cycle', { args: cyclic }, /args nest deeper than 5 levels/],
    ['many items', { args: wide(51) }, /args have more than 50 keys and items/],
    ['many keys', { args: { a: nested(3), b: wide(47) } }, /args have more than 50 keys and items/],
  ])('with %s are refused, and nothing is kept', (_, change, message) => {
    const store = opened()
    store.registerDoc('git:commit', { notes: 'Before', examples: [example] })
    const bad = [example, { ...example, ...change } as ToolExample]
    const refused = expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringMatching(message) })
    expect(() => store.registerExamples('git:commit', bad)).toThrow(refused)
    expect(() => store.registerDoc('git:commit', { notes: 'After', examples: bad })).toThrow(refused)
    expect(store.describe('git:commit', 'full')).toMatchObject({ notes: 'Before', examples: [example] })
  })
})

describe('schema info', () => {
  it.each([
    [{}, undefined],
    [{ type: 'object', properties: {} }, undefined],
    [{ properties: { a: true }, required: 'a' }, undefined],
    [{ required: ['a', 1] }, { required: ['a'], defaults: {}, types: {} }],
    [{ properties: { a: { default: false } } }, { required: [], defaults: { a: false }, types: {} }],
    [{ properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }, { types: { a: ['string', 'null'] } }],
    [
      { properties: { a: { enum: ['x', 'y', 1, 1.5, null] } } },
      { types: { a: ['string', 'integer', 'number', 'null'] } },
    ],
    [{ properties: { a: { const: [1] } } }, { types: { a: ['array'] } }],
    [
      {
        allOf: [{ $ref: '#/$defs/whole' }],
        $defs: {
          whole: { properties: { a: { $ref: '#one' }, b: { anyOf: [{ $ref: '#one' }] } }, required: ['a'] },
          one: { $anchor: 'one', type: 'integer', default: 1 },
        },
      },
      { required: ['a'], defaults: { a: 1 }, types: { a: ['integer'], b: ['integer'] } },
    ],
  ])('of %j', (schema, expected) => {
    const info = readSchemaInfo(schema)
    if (expected === undefined) expect(info).toBeUndefined()
    else expect(info).toMatchObject(expected)
  })
})
