import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ToolContent, ToolDraft } from '../../contract/registry.ts'
import { changeClasses, ToolDiff } from '../../contract/tool-diff.ts'
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
  it('says in a few lines what changed, the worst first', () => {
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

  it('cuts what is long and shows what is invisible', () => {
    const diff = diffTools(tool({ notes: 'a\n'.repeat(100) }), tool({ notes: '\u001b[31mred\r' }))
    const text = describeDiff(diff)
    expect(text).toContain('more')
    expect(text).not.toMatch(/[\u001b\r]/)
    expect(text.split('\n').length).toBeLessThan(30)
  })
})
