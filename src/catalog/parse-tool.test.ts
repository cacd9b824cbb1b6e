import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutText } from '../rules/cut-text.ts'
import { normalizeTags } from '../rules/normalize-tags.ts'
import { parseToolId } from '../rules/tool-id.ts'
import { parseTool, toolIdOf } from './parse-tool.ts'

const inputSchema = { type: 'object' }
const invalid = (message: string | RegExp) =>
  expect.objectContaining({
    code: 'INPUT_INVALID',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  })

describe('tools', () => {
  it.each([
    [{ name: '' }, 'name is required'],
    [{}, 'name is required'],
    [{ name: 'x'.repeat(129) }, 'name exceeds 128 characters'],
    [{ name: 'x'.repeat(100_000) }, 'name exceeds 128 characters'],
    [{ name: 'a/b/é/é' }, 'name contains invalid characters: /, é'],
    [{ name: 'a b😀\u0000' }, 'name contains invalid characters:  , 😀, \\u{0}'],
    [{ name: '😀'.repeat(100) }, 'name contains invalid characters: 😀'],
    [{ name: 'a:b' }, 'name contains invalid characters: :'],
    [{ name: 'a', inputSchema: undefined }, 'inputSchema is required'],
    [{ name: 'a', inputSchema: [] }, /^invalid tool: inputSchema must be an object/],
    [{ name: 'a', inputSchema: null }, /^invalid tool: inputSchema must be an object/],
    [{ name: 'a', nmae: 'b' }, /unknown key 'nmae'/],
    [{ name: 'a', namespace: 'x:y' }, /namespace: must not contain colons/],
    [{ name: 'a', namespace: 'x', version: '1:2' }, /version: must contain only letters/],
    [{ name: 'a', version: '1.2' }, /version must be an integer for a tool without a namespace/],
  ])('B3.3: %j is refused', (tool, message) => {
    const whole = typeof message === 'string' ? `invalid tool: ${message}` : message
    expect(() => parseTool({ inputSchema, ...tool })).toThrow(invalid(whole))
  })

  it('B3.3: names of 128 characters, and every allowed character, pass', () => {
    for (const name of ['x'.repeat(128), 'aZ09_.-']) expect(parseTool({ name, inputSchema }).name).toBe(name)
  })

  it('names the place of each problem', () => {
    const refused = () => parseTool({ name: '', inputSchema: 1 })
    expect(refused).toThrow(
      expect.objectContaining({
        problems: [expect.objectContaining({ pointer: '/name' }), expect.objectContaining({ pointer: '/inputSchema' })],
      }),
    )
  })

  it('rejects schemas that are not JSON', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    for (const bad of [cyclic, { big: 1n }]) {
      expect(() => parseTool({ name: 'a', inputSchema: bad })).toThrow(invalid('invalid tool: it is not plain JSON'))
    }
  })

  it('keeps a frozen copy of its own, schemas unchanged', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', default: ' X ' } }, 'x-own': [1, null] }
    const tool = parseTool({ name: 'a', inputSchema: schema, outputSchema: schema })
    expect(tool.inputSchema).toEqual(schema)
    expect(tool.outputSchema).toEqual(schema)
    schema.properties.a.type = 'number'
    expect(tool.inputSchema).toHaveProperty('properties.a.type', 'string')
    expect(Object.isFrozen(tool.inputSchema.properties)).toBe(true)
  })

  it('B3.1: ids come back as the parts they were made of', () => {
    const word = fc.stringMatching(/^[A-Za-z0-9_.-]{1,20}$/)
    const number = fc.integer({ min: 0, max: 10_000 }).map(String)
    const spaces = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/[:\s]/.test(text))
    const parts = fc.oneof(
      fc.record({ name: word }),
      fc.record({ name: word, version: number }),
      fc.record({ namespace: spaces, name: word }),
      fc.record({ namespace: spaces, name: word, version: fc.oneof(word, number) }),
    )
    fc.assert(
      fc.property(parts, (id) => {
        expect(parseToolId(toolIdOf(parseTool({ ...id, inputSchema })))).toEqual(id)
      }),
    )
  })

  it('an empty namespace is none', () => {
    expect(parseTool({ name: 'a', namespace: '', inputSchema })).not.toHaveProperty('namespace')
  })
})

describe('tags', () => {
  it.each([
    [[' Git ', 'GIT', 'git'], ['git']],
    [['Version  \t Control'], ['version-control']],
    [
      ['ünïcode', 'C++', 'x/y'],
      ['ünïcode', 'c', 'xy'],
    ],
    [
      ['日本語', 'Ελλάδα', 'हिन्दी'],
      ['日本語', 'ελλάδα', 'हिन्दी'],
    ],
    [['u\u0308'], ['ü']],
    [['a_b.c-d', '!!!', '', '❤️'], ['a_b.c-d']],
    [
      ['b', 'a', 'b'],
      ['b', 'a'],
    ],
    [['x'.repeat(70)], ['x'.repeat(64)]],
    [[`${'x'.repeat(63)}𝒳`], ['x'.repeat(63)]],
  ])('B3.2: %j', (tags, expected) => {
    expect(normalizeTags(tags)).toEqual(expected)
  })

  it('B3.2: stop at twenty that differ', () => {
    const tags = Array.from({ length: 60 }, (_, index) => `t${Math.floor(index / 2)}`)
    expect(normalizeTags(tags)).toEqual(Array.from({ length: 20 }, (_, index) => `t${index}`))
  })

  it('B3.2: are well formed, within their limits, and stay as they are', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 90 }), { maxLength: 30 }), (tags) => {
        const normal = normalizeTags(tags)
        expect(normal.length).toBeLessThanOrEqual(20)
        for (const tag of normal) expect(tag).toMatch(/^[\p{L}\p{N}\p{M}_.-]{1,64}$/u)
        expect(new Set(normal).size).toBe(normal.length)
        expect(normalizeTags(normal)).toEqual(normal)
      }),
    )
  })
})

describe('cutText', () => {
  it.each([
    ['abcdef', 3, 'abc'],
    ['abc', 3, 'abc'],
    ['ab😀', 3, 'ab'],
    ['ab😀c', 4, 'ab😀'],
    ['abe\u0301f', 3, 'ab'],
    ['a👩‍👩‍👧b', 5, 'a'],
    ['🇫🇷🇩🇪', 6, '🇫🇷'],
    ['a\r\nb', 2, 'a'],
    ['', 3, ''],
  ])('B3.18: %j to %i', (text, most, expected) => {
    expect(cutText(text, most)).toBe(expected)
  })

  it('B3.18: gives up on a character without end, but never on half a code point', () => {
    expect(cutText(`e${'\u0301'.repeat(200)}`, 100)).toHaveLength(100)
    expect(cutText('😀\u200d'.repeat(100), 100)).toMatch(/^[^\p{Surrogate}]{50,100}$/u)
  })

  it('B3.18: is a well-formed prefix, not longer than the limit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 60 }), (text, most) => {
        const cut = cutText(text, most)
        expect(text.startsWith(cut)).toBe(true)
        expect(cut.length).toBeLessThanOrEqual(most)
        expect(cut).not.toMatch(/\p{Surrogate}/u)
      }),
    )
  })
})
