import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TooldexError } from '../base/errors.ts'
import { readJson } from './read-json.ts'

const refusal = (text: string, options = {}): string => {
  try {
    return `read: ${JSON.stringify(readJson(text, options))}`
  } catch (error) {
    if (error instanceof TooldexError && error.code === 'INPUT_INVALID') return error.message
    throw error
  }
}

describe('readJson', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t', ' \r\n'), (text, indent) => {
        const value: unknown = JSON.parse(text)
        expect(JSON.stringify(readJson(JSON.stringify(value, null, indent)))).toBe(JSON.stringify(value))
      }),
    )
  })

  it('rejects what JSON.parse rejects, with the position', () => {
    const mangled = fc.tuple(
      fc.json({ maxDepth: 3 }),
      fc.nat(),
      fc.constantFrom('', ',', '"', '\\', '{', ']', ':', '0', '-', 'e', '\n', 'x'),
    )
    fc.assert(
      fc.property(mangled, ([text, at, extra]) => {
        const place = at % (text.length + 1)
        const changed = text.slice(0, place) + extra + text.slice(place + 1)
        let parses = true
        try {
          JSON.parse(changed)
        } catch {
          parses = false
        }
        const answer = refusal(changed)
        if (!parses) expect(answer).toMatch(/^The JSON is not valid at \d+:\d+: /)
        else if (!answer.startsWith('read: ')) expect(answer).toMatch(/duplicate key|exactly/)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['', '1:1: unexpected end'],
    ['{"a": 1,\n  "b": }', '2:8: a value is missing'],
    ['{"a": 1,}', '1:9: a key in double quotes is missing'],
    ['[1 2]', '1:4: a comma or ] is missing'],
    ['[1}', '1:3: a comma or ] is missing'],
    ['{"a" 1}', '1:6: a colon is missing'],
    ['"abc', '1:1: a string is not closed'],
    ['"a\\"', '1:1: a string is not closed'],
    ['01', '1:2: unexpected text after the value'],
    ['-', '1:1: a number is malformed'],
    ['{"a":1,"b":{"a":1},"\\u0061":2}', '1:20: duplicate key "a"'],
    ['["\\ud800"]', '1:3: a string contains a lone surrogate'],
    ['["\ud800"]', '1:3: a string contains a lone surrogate'],
    ['["\\udc00\\ud800"]', '1:3: a string contains a lone surrogate'],
    ['{"\\u0000":1}', '1:3: a string contains U+0000, which cannot be stored'],
    ['["a\\q"]', '1:4: a string contains an invalid escape sequence'],
    ['["a\tb"]', '1:4: a string contains an unescaped control character'],
    ['1e999', '1:1: the number 1e999 cannot be represented exactly'],
    ['12345678901234567890', '1:1: the number 12345678901234567890 cannot be represented exactly'],
  ])('refuses %j', (text, message) => {
    expect(refusal(text)).toBe(`The JSON is not valid at ${message}.`)
  })

  it.each([
    ['"\\ud83d\\ude00"'],
    ['"\ud83d\\ude00"'],
    ['"\\\\u0000"'],
    ['{"a":{"x":1},"b":{"x":1}}'],
    ['[0.1,-0,1e-9,9007199254740991]'],
    ['"\\\\"'],
  ])('takes %j', (text) => {
    expect(readJson(text)).toEqual(JSON.parse(text))
  })

  it('finds depth without recursion', () => {
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect(refusal(deep(200_000))).toContain('1:101: it nests deeper than 100 levels')
    expect(refusal(deep(100))).toMatch(/^read/)
    expect(refusal('{"a":'.repeat(200_000), { maxDepth: 1_000_000 })).toContain('unexpected end')
  })

  it('refuses by bytes, not characters', () => {
    expect(refusal('"ééé"', { maxBytes: 8 })).toMatch(/^read/)
    expect(refusal('"ééé"', { maxBytes: 7 })).toContain('more than 7 bytes')
  })

  it('takes __proto__ as data', () => {
    expect(Object.keys(readJson('{"__proto__":{"a":1}}') as object)).toEqual(['__proto__'])
    expect(refusal('{"__proto__":1,"__proto__":2}')).toContain('duplicate key')
  })
})
