import { describe, expect, it } from 'vitest'
import { TooldexError } from '../../base/errors.ts'
import { ArgDef } from '../../contract/cli-config.ts'
import { coerceArguments } from './coerce-arguments.ts'

type Given = Readonly<Record<string, unknown>>

const arg = (definition: Partial<ArgDef>) => ArgDef.parse({ name: 'x', ...definition })
const coerce = (definition: Partial<ArgDef>, value: unknown) =>
  coerceArguments([arg(definition)], { x: value }).get('x')

function refusal(args: readonly ArgDef[], given: Given): TooldexError {
  try {
    coerceArguments(args, given)
  } catch (error) {
    if (error instanceof TooldexError) return error
    throw error
  }
  throw new Error('the arguments were accepted')
}

describe('coerceArguments', () => {
  it.each([
    ['integer', 42, 42],
    ['integer', '42', 42],
    ['integer', ' 42 ', 42],
    ['integer', '-7', -7],
    ['integer', '+7', 7],
    ['integer', '1_000', 1000],
    ['integer', true, 1],
    ['integer', false, 0],
    ['integer', 3.0, 3],
    ['integer', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ['number', 3, 3],
    ['number', 3.7, 3.7],
    ['number', '1e3', 1000],
    ['number', '-2.5', -2.5],
    ['number', '.5', 0.5],
    ['number', '5.', 5],
    ['number', '1_000.5', 1000.5],
    ['number', true, 1],
    ['boolean', true, true],
    ['boolean', 'true', true],
    ['boolean', 'FALSE', false],
    ['boolean', ' True ', true],
    ['boolean', 0, false],
    ['boolean', 1, true],
    ['boolean', 2, true],
    ['string', 'text', 'text'],
    ['string', '', ''],
    ['string', ' kept ', ' kept '],
    ['string', 5, '5'],
    ['string', 1.5, '1.5'],
    ['string', true, 'true'],
    ['path', 'a/b', 'a/b'],
    ['path', 7, '7'],
  ] as const)('takes for %s the value %j as %j', (type, value, expected) => {
    expect(coerce({ type }, value)).toBe(expected)
  })

  it.each([
    ['integer', 3.7, '3.7'],
    ['integer', '3.7', "'3.7'"],
    ['integer', '3.0', "'3.0'"],
    ['integer', '1e3', "'1e3'"],
    ['integer', 'x', "'x'"],
    ['integer', '', "''"],
    ['integer', '__1', "'__1'"],
    ['integer', '1__0', "'1__0'"],
    ['integer', '0x10', "'0x10'"],
    ['integer', 2 ** 53, '9007199254740992'],
    ['integer', '9007199254740993', "'9007199254740993'"],
    ['integer', [1], '[1]'],
    ['integer', {}, '{}'],
    ['number', 'nan', "'nan'"],
    ['number', 'Infinity', "'Infinity'"],
    ['number', '1e999', "'1e999'"],
    ['number', Number.NaN, 'null'],
    ['number', '.', "'.'"],
    ['number', '1,5', "'1,5'"],
    ['number', [], '[]'],
    ['boolean', 1.5, '1.5'],
    ['boolean', 'yes', "'yes'"],
    ['boolean', '1', "'1'"],
    ['boolean', '', "''"],
    ['boolean', [true], '[true]'],
    ['string', ['p', 'q'], '["p","q"]'],
    ['string', { a: 1 }, '{"a":1}'],
  ] as const)('refuses for %s the value %j', (type, value, shown) => {
    const error = refusal([arg({ type })], { x: value })
    expect(error.code).toBe('INPUT_INVALID')
    expect(error.message).toBe(`Argument validation failed:\n  - Argument 'x': cannot convert ${shown} to ${type}`)
    expect(error.problems).toMatchObject([{ severity: 'error', pointer: '/x' }])
  })

  it('counts null and undefined as not given', () => {
    expect(coerceArguments([arg({})], { x: null }).size).toBe(0)
    expect(coerceArguments([arg({})], { x: undefined }).size).toBe(0)
    expect(coerce({ default: 'd' }, null)).toBe('d')
    expect(refusal([arg({ required: true })], { x: null }).message).toContain("Missing required argument 'x'")
  })

  it('fills in defaults, also false, 0 and the empty text, as the type they stand for', () => {
    expect(coerceArguments([arg({ type: 'boolean', default: false })], {}).get('x')).toBe(false)
    expect(coerceArguments([arg({ type: 'integer', default: 0 })], {}).get('x')).toBe(0)
    expect(coerceArguments([arg({ default: '' })], {}).get('x')).toBe('')
    expect(coerceArguments([arg({ type: 'integer', default: '10' })], {}).get('x')).toBe(10)
    expect(coerceArguments([arg({ default: null })], {}).has('x')).toBe(false)
  })

  it('takes a required value that is empty', () => {
    expect(coerce({ required: true }, '')).toBe('')
  })

  it('checks an enum on the text of the converted value', () => {
    expect(coerce({ enum: ['a', 'b'] }, 'b')).toBe('b')
    expect(coerce({ type: 'integer', enum: ['1', '2'] }, ' 2 ')).toBe(2)
    expect(coerce({ type: 'integer', enum: [1, 2] }, '1')).toBe(1)
    expect(coerce({ enum: [] }, 'anything')).toBe('anything')
    const message = "Argument validation failed:\n  - Argument 'x' must be one of: a, b"
    expect(refusal([arg({ enum: ['a', 'b'] })], { x: 'A' }).message).toBe(message)
  })

  it('converts each value of a list, and takes one value as a list of one', () => {
    expect(coerce({ repeat: true }, ['a', 1])).toEqual(['a', '1'])
    expect(coerce({ repeat: true }, 'a')).toEqual(['a'])
    expect(coerce({ type: 'array', items: 'integer' }, ['1', 2])).toEqual([1, 2])
    expect(coerce({ repeat: true, default: ['d'] }, null)).toEqual(['d'])
    expect(refusal([arg({ repeat: true, type: 'integer' })], { x: [1, 'y'] }).message).toContain(
      "cannot convert 'y' to integer",
    )
    expect(refusal([arg({ repeat: true })], { x: [null] }).message).toContain('cannot convert null to string')
  })

  it('rejects unknown arguments with a suggestion', () => {
    const error = refusal([arg({ name: 'max_count' })], { maxcount: 1 })
    expect(error.message).toContain("Unknown argument 'maxcount'. Did you mean 'max_count'?")
    expect(refusal([], { z: 1 }).message).toBe("Argument validation failed:\n  - Unknown argument 'z'.")
  })

  it('does not take what every object has for an argument', () => {
    expect(coerceArguments([arg({ name: 'toString' }), arg({ name: 'constructor' })], {}).size).toBe(0)
    expect(refusal([arg({ name: 'valueOf', required: true })], {}).message).toContain(
      "Missing required argument 'valueOf'",
    )
    expect(refusal([], JSON.parse('{"__proto__": 1}')).message).toContain("Unknown argument '__proto__'")
  })

  it('rejects a value that nests deeper than the stack, without printing it', () => {
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
    expect(refusal([arg({ type: 'integer' })], { x: deep }).message).toContain('cannot convert an array to integer')
  })

  it('reports all problems at once: missing arguments in the order of definition, then the others in the order of the call', () => {
    const args = [
      arg({ name: 'a', type: 'integer' }),
      arg({ name: 'b', required: true }),
      arg({ name: 'c', enum: ['p', 'q'] }),
      arg({ name: 'd', required: true }),
    ]
    const { message, problems } = refusal(args, { c: 'r', wrong: 1, a: 'x' })
    expect(message.split('\n')).toEqual([
      'Argument validation failed:',
      "  - Missing required argument 'b'",
      "  - Missing required argument 'd'",
      "  - Argument 'c' must be one of: p, q",
      "  - Unknown argument 'wrong'.",
      "  - Argument 'a': cannot convert 'x' to integer",
    ])
    expect(problems.map((problem) => problem.pointer)).toEqual(['/b', '/d', '/c', '/wrong', '/a'])
  })

  it('shows a refused value on one line, cut, with nothing invisible', () => {
    const { message } = refusal([arg({ type: 'integer' })], { x: `a\nb\u001b[31m${'z'.repeat(500)}` })
    expect(message.split('\n')).toHaveLength(2)
    expect(message).toContain('a\\nb\\u{1b}[31m')
    expect(message.length).toBeLessThan(250)
  })
})
