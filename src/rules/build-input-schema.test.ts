import { describe, expect, it } from 'vitest'
import { ArgDef } from '../contract/cli-config.ts'
import { buildInputSchema } from './build-input-schema.ts'

const propertyOf = (definition: Partial<ArgDef>) => {
  const { properties } = buildInputSchema([ArgDef.parse({ name: 'x', ...definition })])
  return (properties as Record<string, unknown>).x
}

describe('buildInputSchema', () => {
  it('is an object without required where nothing is', () => {
    expect(buildInputSchema([])).toEqual({ type: 'object', properties: {} })
  })

  it('lists required arguments, in order', () => {
    const args = ['a', 'b', 'c'].map((name) => ArgDef.parse({ name, required: name !== 'b' }))
    expect(buildInputSchema(args)).toMatchObject({ required: ['a', 'c'] })
  })

  it('writes type, description, default and enum in this order, and no more', () => {
    const property = propertyOf({ enum: ['a', 'b'], default: 'a', description: 'One of two', flag: '-x' })
    expect(JSON.stringify(property)).toBe('{"type":"string","description":"One of two","default":"a","enum":["a","b"]}')
  })

  it.each([
    [{}, { type: 'string' }],
    [{ type: 'path' }, { type: 'string' }],
    [
      { type: 'integer', default: 0 },
      { type: 'integer', default: 0 },
    ],
    [
      { type: 'boolean', default: false },
      { type: 'boolean', default: false },
    ],
    [{ default: null }, { type: 'string' }],
    [{ default: '' }, { type: 'string', default: '' }],
    [{ enum: [] }, { type: 'string' }],
    [{ cwd: true }, { type: 'string' }],
    [{ stdin: true }, { type: 'string' }],
    [{ repeat: true }, { type: 'array', items: { type: 'string' } }],
    [
      { type: 'array', items: 'integer' },
      { type: 'array', items: { type: 'integer' } },
    ],
    [
      { repeat: true, enum: ['a'], default: ['a'] },
      { type: 'array', items: { type: 'string', enum: ['a'] }, default: ['a'] },
    ],
  ] as const)('turns %j into %j', (definition, expected) => {
    expect(propertyOf(definition as Partial<ArgDef>)).toEqual(expected)
  })

  it.each([
    [
      { type: 'integer', enum: ['1', '2'], default: '1' },
      { type: 'integer', default: 1, enum: [1, 2] },
    ],
    [
      { type: 'string', enum: [1, 2.5, true], default: 1 },
      { type: 'string', default: '1', enum: ['1', '2.5', 'true'] },
    ],
    [
      { type: 'boolean', default: 'True' },
      { type: 'boolean', default: true },
    ],
    [
      { repeat: true, type: 'number', default: ['1e3'] },
      { type: 'array', items: { type: 'number' }, default: [1000] },
    ],
  ] as const)('converts values to the declared type: %j', (definition, expected) => {
    expect(propertyOf(definition as unknown as Partial<ArgDef>)).toEqual(expected)
  })
})
