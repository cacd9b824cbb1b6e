import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatToolId, parseToolId } from './tool-id.ts'

const name = fc.stringMatching(/^[A-Za-z0-9_.-]{1,20}$/)
const number = fc.integer({ min: 1, max: 1_000_000 }).map(String)

describe('tool ids', () => {
  it('come back as they were written', () => {
    const id = fc.oneof(
      fc.record({ name }),
      fc.record({ name, version: number }),
      fc.record({ namespace: name, name }),
      fc.record({ namespace: name, name, version: fc.oneof(number, name) }),
    )
    fc.assert(
      fc.property(id, (parts) => {
        expect(parseToolId(formatToolId(parts))).toEqual(parts)
      }),
    )
  })

  it('are written as they were read, but for the short spelling of a version', () => {
    const text = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(':'))
    fc.assert(
      fc.property(text, (id) => {
        expect(formatToolId(parseToolId(id))).toBe(id)
      }),
    )
    expect(formatToolId(parseToolId('a:b@3'))).toBe('a:b:3')
  })

  it.each([
    ['b', { name: 'b' }],
    ['a:b', { namespace: 'a', name: 'b' }],
    ['a:b:1', { namespace: 'a', name: 'b', version: '1' }],
    ['a:b:1.2.3', { namespace: 'a', name: 'b', version: '1.2.3' }],
    ['b@3', { name: 'b', version: '3' }],
    ['a:b@3', { namespace: 'a', name: 'b', version: '3' }],
    ['b@latest', { name: 'b@latest' }],
  ])('reads %j', (text, expected) => {
    expect(parseToolId(text)).toEqual(expected)
  })

  it('leaves out an empty namespace', () => {
    expect(formatToolId({ namespace: '', name: 'b' })).toBe('b')
    expect(formatToolId({ namespace: '', name: 'b', version: '3' })).toBe('b@3')
  })

  it.each(['', ':', ':b', 'a:', 'a::c', 'a:b:', '::', 'a:b:c:d', 'a:b:1@3', ':b@3', 'a:@3', '@3'])(
    'refuses %j',
    (text) => {
      expect(() => parseToolId(text)).toThrow(
        expect.objectContaining({ code: 'INPUT_INVALID', message: `'${text}' is not a valid tool id.` }),
      )
    },
  )

  it('does not repeat a long text in its error', () => {
    expect(() => parseToolId(':'.repeat(100_000))).toThrow(/^.{0,250}$/)
  })
})
