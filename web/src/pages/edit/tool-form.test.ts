import { expect, it } from 'vitest'
import { locateProblems } from './locate-problems.ts'
import { newRow, rowsOfSchema, withRows } from './schema-rows.ts'
import { newToolForm, readEdits, readForm, readObject, rebaseForm, toText } from './tool-form.ts'

it('sends only edited fields, and reports JSON that cannot be read at its line', () => {
  const edited = { ...newToolForm, tags: 'mail, , reports ', categoryId: '' }
  expect(readEdits(edited, newToolForm)).toEqual({ content: { tags: ['mail', 'reports'] }, problems: [] })
  const { problems } = readForm({ ...newToolForm, executorConfig: '{\n  "network": false,\n}' })
  expect(problems).toMatchObject([{ pointer: '/executorConfig', line: 3, column: 1 }])
  expect(readObject('[]')).toMatchObject({ message: 'must be a JSON object' })
  expect(readObject('')).toMatchObject({ line: 1 })
})

it('applies edits to a later version without the values of the earlier one', () => {
  const edited = { ...newToolForm, description: 'mine' }
  const later = { ...newToolForm, description: 'theirs', tags: 'added' }
  expect(rebaseForm(edited, newToolForm, later)).toEqual({ ...later, description: 'mine' })
})

it('finds the line of a pointer, or of the nearest part that exists', () => {
  const form = { ...newToolForm, inputSchema: toText({ properties: { 'a/b': { type: 'strin' }, list: [{}] } }) }
  const at = (pointer: string) =>
    locateProblems([{ severity: 'error', pointer, message: 'wrong' }], 'inputSchema', form).map(({ line }) => line)
  expect(at('/inputSchema/properties/a~1b/type')).toEqual([4])
  expect(at('/inputSchema/properties/list/0/missing')).toEqual([7])
  expect(at('/inputSchema')).toEqual([1])
  expect(at('/name')).toEqual([])
})

it('edits the properties of a schema, and keeps everything else in it', () => {
  const schema = { type: 'object', additionalProperties: false, required: ['a'], properties: { a: { minimum: 1 } } }
  const rows = rowsOfSchema(schema) ?? []
  expect(rows).toEqual([{ name: 'a', property: { minimum: 1 }, isRequired: true }])
  const renamed = withRows(schema, [...rows.map((row) => ({ ...row, name: 'b' })), newRow(rows)])
  expect(renamed).toEqual({
    type: 'object',
    additionalProperties: false,
    required: ['b'],
    properties: { b: { minimum: 1 }, argument: { type: 'string' } },
  })
  expect(Object.keys(renamed)).toEqual(Object.keys(schema))
  expect(withRows(renamed, [])).toEqual({ type: 'object', additionalProperties: false, properties: {} })
  expect(newRow([newRow([])]).name).toBe('argument_2')
  for (const other of [{ properties: [] }, { properties: { a: true } }, { required: 'a' }])
    expect(rowsOfSchema(other)).toBeUndefined()
})
