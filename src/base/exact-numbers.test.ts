import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExactNumbers, quoteLargeNumbers } from './exact-numbers.ts'

describe('exact numbers', () => {
  it.each([
    ['{"id":1234567890123456789,"n":12}', { id: '1234567890123456789', n: 12 }],
    ['[-9007199254740993, 9007199254740991, 9007199254740992]', ['-9007199254740993', 2 ** 53 - 1, 2 ** 53]],
    ['{"a\\\\":9007199254740993,"b\\"":"9007199254740993"}', { 'a\\': '9007199254740993', 'b"': '9007199254740993' }],
    ['[1.2345678901234567890, 1e20, 100000000000000000000]', [Number('1.2345678901234567890'), 1e20, 1e20]],
    ['9007199254740993', '9007199254740993'],
  ])('%s', (text, expected) => {
    expect(parseExactNumbers(text)).toEqual(expected)
  })

  it.each(['{9007199254740993: 1}', '[01234567890123456789]', '["9007199254740993', '1234567890123456789 1'])(
    'throws for text that is not JSON: %s',
    (text) => {
      expect(() => parseExactNumbers(text)).toThrow(SyntaxError)
    },
  )

  it('leaves alone what JSON.stringify writes, and keeps all digits of any other whole number', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.bigInt(), fc.string(), (value, digits, key) => {
        const text = JSON.stringify(value)
        expect(quoteLargeNumbers(text)).toBe(text)
        const read = parseExactNumbers(`{${JSON.stringify(`${key}_`)}: [${text}, ${digits}]}`) as Record<
          string,
          unknown[]
        >
        expect(BigInt(Object.values(read)[0]?.[1] as string)).toBe(digits)
      }),
    )
  })
})
