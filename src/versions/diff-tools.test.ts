import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ToolContent, ToolDraft } from '../contract/registry.ts'
import { changeClasses, ToolDiff } from '../contract/tool-diff.ts'
import { describeDiff } from './describe-diff.ts'
import { diffTools } from './diff-tools.ts'

const tool = (rest: Partial<ToolDraft> = {}): ToolContent =>
  ToolContent.parse(
    ToolDraft.parse({ name: 'send_report', displayName: 'Send', description: 'Sends.', inputSchema: {}, ...rest }),
  )
const classOf = (before: Partial<ToolDraft>, after: Partial<ToolDraft>) => diffTools(tool(before), tool(after)).class

describe('diffTools', () => {
  it('finds nothing between equal tools', () => {
    expect(diffTools(tool(), tool())).toEqual({ class: 'none', fields: [] })
  })

  it('classes each field for the caller', () => {
    expect(classOf({}, { name: 'send_all' })).toBe('breaking')
    expect(classOf({}, { namespace: 'mail' })).toBe('breaking')
    expect(classOf({}, { executorType: 'shell' })).toBe('compatible')
    expect(classOf({}, { executorConfig: { url: 'http://a' } })).toBe('compatible')
    expect(classOf({}, { tags: ['mail'] })).toBe('wording')
    expect(classOf({}, { summary: 'Sends it.' })).toBe('wording')
  })

  it('shows the lines of long texts that differ', () => {
    const { fields } = diffTools(tool({ scriptContent: 'a\nb\nc' }), tool({ scriptContent: 'a\nx\nc' }))
    expect(fields).toEqual([
      { field: 'scriptContent', class: 'compatible', before: 'a\nb\nc', after: 'a\nx\nc', text: ' a\n-b\n+x\n c' },
    ])
  })

  it('takes a tool that becomes more dangerous for breaking, by the hints and what MCP assumes without them', () => {
    const hints = (before: ToolContent['annotations'], after: ToolContent['annotations']) =>
      classOf({ annotations: before }, { annotations: after })
    expect(hints({ readOnlyHint: true }, { readOnlyHint: false })).toBe('breaking')
    expect(hints({ readOnlyHint: true }, {})).toBe('breaking')
    expect(hints({ destructiveHint: false }, {})).toBe('breaking')
    expect(hints({}, { destructiveHint: true })).toBe('wording')
    expect(hints({}, { readOnlyHint: true })).toBe('wording')
    expect(hints({}, { title: 'Send' })).toBe('wording')
  })

  it('takes a mode that is gone for breaking and one more for compatible', () => {
    expect(classOf({ inputModes: ['a', 'b'] }, { inputModes: ['a'] })).toBe('breaking')
    expect(classOf({ outputModes: ['a'] }, { outputModes: ['a', 'b'] })).toBe('compatible')
    expect(classOf({ outputModes: ['b', 'a'] }, { outputModes: ['a', 'b'] })).toBe('wording')
  })

  it('looks at the output from the other side', () => {
    const [small, large] = [{ type: 'string' }, { type: ['string', 'null'] }]
    expect(classOf({ inputSchema: small }, { inputSchema: large })).toBe('compatible')
    expect(classOf({ outputSchema: small }, { outputSchema: large })).toBe('breaking')
    expect(classOf({ outputSchema: large }, { outputSchema: small })).toBe('compatible')
  })

  const property = { type: 'string' }
  it.each([
    ['a value for a list of one', { type: ['null', 'string'], const: 'a' }, { enum: ['a'] }],
    ['another order of values', { enum: ['a', 'b'] }, { enum: ['b', 'a'] }],
    ['another order of what is required', { required: ['a', 'b'] }, { required: ['b', 'a'] }],
    [
      'another name of a part',
      { $defs: { a: property }, properties: { x: { $ref: '#/$defs/a' } } },
      { $defs: { b: property }, properties: { x: { $ref: '#/$defs/b' } } },
    ],
    ['no dialect', { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' }, { type: 'object' }],
  ])('names a schema that is only written differently, for it makes a version: %s', (_, inputSchema, other) => {
    const diff = diffTools(tool({ inputSchema }), tool({ inputSchema: other }))
    expect(diff).toMatchObject({
      class: 'wording',
      fields: [{ field: 'inputSchema', class: 'wording', before: inputSchema, after: other }],
    })
    expect(describeDiff(diff).split('\n')).toEqual([
      'wording: 1 field changed',
      'inputSchema (wording)',
      '  wording: written differently, means the same',
    ])
  })

  it('names the objects whose keys are in another order', () => {
    const order = (before: Partial<ToolDraft>, after: Partial<ToolDraft>) =>
      describeDiff(diffTools(tool(before), tool(after))).split('\n')
    const [was, is] = [
      { a: {}, b: { x: 1, y: 2 } },
      { b: { y: 2, x: 1 }, a: {} },
    ]
    expect(order({ inputSchema: { properties: was } }, { inputSchema: { properties: is } })).toEqual([
      'wording: 1 field changed',
      'inputSchema (wording)',
      '  wording: the keys of /properties are in another order: b, a',
      '  wording: the keys of /properties/b are in another order: y, x',
    ])
    const query = { executorType: 'http' as const, executorConfig: { query: was } }
    expect(order(query, { ...query, executorConfig: { query: is } })).toContain(
      '  wording: the keys of /query are in another order: b, a',
    )
  })

  it('takes another order of the values without a flag for breaking', () => {
    const required = ['a', 'b']
    const [was, is] = [
      { required, properties: { a: {}, b: {} } },
      { required, properties: { b: {}, a: {} } },
    ]
    expect(classOf({ inputSchema: was }, { inputSchema: is })).toBe('breaking')
    const cli = (names: readonly string[]) => ({
      executorType: 'cli' as const,
      executorConfig: { baseCommand: 'cp', args: names.map((name) => ({ name, positional: true })) },
    })
    const same = { inputSchema: was, ...cli(['a', 'b']) }
    expect(classOf(same, { ...same, inputSchema: is })).toBe('wording')
    expect(classOf(same, { ...same, ...cli(['b', 'a']) })).toBe('breaking')
    expect(classOf(same, { ...same, ...cli(['a', 'b', 'c']) })).toBe('compatible')
  })

  it('shows the changed places of a config, and takes those for breaking that a caller sees', () => {
    const http = (more: object) => ({
      executorType: 'http' as const,
      executorConfig: { method: 'GET', url: 'https://reports.example/api/v1/reports/{id}', ...more },
    })
    const places = (before: object, after: object) => {
      const [field] = diffTools(tool(http(before)), tool(http(after))).fields
      return field?.changes?.map(({ pointer, class: name, message }) => [pointer, name, message])
    }
    expect(places({ response: { pointer: '/data' } }, { response: { pointer: '/items' } })).toEqual([
      ['/response/pointer', 'breaking', "response.pointer: '/data' -> '/items'"],
    ])
    expect(places({}, { response: { type: 'text' } })?.[0]).toContain('breaking')
    expect(places({ headers: { A: '1' } }, { headers: { B: '2' } })).toEqual([
      ['/headers/A', 'compatible', "headers.A was removed: '1'"],
      ['/headers/B', 'compatible', "headers.B was added: '2'"],
    ])
    const long = `https://reports.example/${'a'.repeat(100)}`
    expect(places({ url: `${long}1` }, { url: `${long}2` })).toEqual([
      ['/url', 'compatible', `url: …${'a'.repeat(20)}1 -> …${'a'.repeat(20)}2`],
    ])
    expect(places({ timeoutMs: 1000 }, { timeoutMs: 500 })?.[0]).toContain('breaking')
    expect(places({ timeoutMs: 500 }, { timeoutMs: 1000 })?.[0]).toContain('compatible')
    const shell = (more: object) => ({ executorType: 'shell' as const, executorConfig: { command: ['ls'], ...more } })
    expect(classOf(shell({}), shell({ paths: { a: '/srv' } }))).toBe('breaking')
    expect(classOf(shell({ dashes: ['a'] }), shell({}))).toBe('breaking')
  })

  it('shows where long values begin to differ', () => {
    const tags = Array.from({ length: 30 }, (_, index) => `tag-${index}`)
    expect(describeDiff(diffTools(tool({ tags }), tool({ tags: [...tags.slice(0, 29), 'other'] })))).toContain(
      '…,"tag-27","tag-28","tag-29"] -> …,"tag-27","tag-28","other"]',
    )
  })

  it('is as bad as its worst part, and finds nothing between a tool and itself', () => {
    const schema = fc.dictionary(fc.constantFrom('type', 'enum', 'minimum', 'title', 'properties'), fc.jsonValue())
    const draft = fc.record(
      { notes: fc.string(), tags: fc.array(fc.constantFrom('a', 'b')), inputSchema: schema, outputSchema: schema },
      { requiredKeys: [] },
    )
    const ranks = ['none', ...changeClasses] as const
    const worst = (parts: readonly { class: (typeof ranks)[number] }[]) =>
      ranks[Math.max(0, ...parts.map((part) => ranks.indexOf(part.class)))]
    fc.assert(
      fc.property(draft, draft, (a, b) => {
        const diff = diffTools(tool(a), tool(b))
        expect(ToolDiff.parse(diff)).toEqual(diff)
        expect(diff.class).toBe(worst(diff.fields))
        for (const { class: name, changes } of diff.fields) if (changes) expect(name).toBe(worst(changes))
        expect(diffTools(tool(a), structuredClone(tool(a))).class).toBe('none')
      }),
    )
  })
})

describe('describeDiff', () => {
  it('summarizes changes in a few lines, the most severe first', () => {
    const before = tool({ inputSchema: { properties: { zone: { enum: ['eu', 'us'] } } }, tags: ['a'] })
    const after = tool({
      inputSchema: { properties: { zone: { enum: ['us'], description: 'Where.' } } },
      tags: ['b'],
      description: 'Sends all.',
    })
    expect(describeDiff(diffTools(before, after)).split('\n')).toEqual([
      'breaking: 3 fields changed',
      'inputSchema (breaking)',
      "  breaking: the value 'eu' of 'zone' is no longer allowed",
      "  wording: the description of 'zone' changed",
      'description (wording)',
      '  -Sends.',
      '  +Sends all.',
      'tags (wording)',
      '  ["a"] -> ["b"]',
    ])
    expect(describeDiff(diffTools(before, before))).toBe('nothing changed')
  })

  it('truncates long values and escapes invisible characters', () => {
    const diff = diffTools(tool({ notes: 'a\n'.repeat(100) }), tool({ notes: '\u001b[31mred\r' }))
    const text = describeDiff(diff)
    expect(text).toContain('more')
    expect(text).not.toMatch(/[\u001b\r]/)
    expect(text.split('\n').length).toBeLessThan(30)
  })
})
