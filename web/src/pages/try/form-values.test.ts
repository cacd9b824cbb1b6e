import { expect, it } from 'vitest'
import { fieldsOf, fitsForm, toInput, toValues } from './form-values.ts'

const fields = fieldsOf({
  required: ['text', 'count'],
  properties: {
    level: { enum: ['low', 3, null] },
    verbose: { type: 'boolean' },
    ratio: { type: ['number', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    anything: {},
    text: { type: 'string' },
    count: { type: 'integer' },
  },
})

it('has a field for every property, required ones first', () => {
  expect(fields.map(({ name, kind }) => `${name}: ${kind}`)).toEqual([
    'text: text',
    'count: integer',
    'level: choice',
    'verbose: boolean',
    'ratio: number',
    'tags: json',
    'anything: json',
  ])
})

it('converts texts by the type of their field, and sends no empty optional field', () => {
  const values = { text: '42', count: '7', level: '3', verbose: 'false', ratio: '0.5', tags: '["a"]', anything: '' }
  expect(toInput(fields, values)).toEqual({
    input: { text: '42', count: 7, level: 3, verbose: false, ratio: 0.5, tags: ['a'] },
    errors: {},
  })
  expect(toInput(fields, { text: '', count: '0', level: 'null' }).input).toEqual({ text: '', count: 0, level: null })
})

it('reports missing fields and texts that are no value of their type', () => {
  expect(toInput(fields, { count: '1.5', ratio: 'x', tags: '[a]' }).errors).toEqual({
    text: 'This field is required.',
    count: '1.5 is not an integer.',
    ratio: '"x" is not a number.',
    tags: 'This is not valid JSON. Write texts in double quotes.',
  })
})

it('writes an input into the fields and reads the same from them', () => {
  const input = { text: 'a\nb', count: 0, level: null, verbose: true, tags: ['x', 1], anything: { deep: [null] } }
  expect(toInput(fields, toValues(fields, input))).toEqual({ input, errors: {} })
  expect(fitsForm(fields, input)).toBe(true)
  expect(fitsForm(fields, { other: 1 })).toBe(false)
})
