import { expect, it } from 'vitest'
import { sideBySide } from './side-by-side.ts'

const shown = (before: string, after: string) =>
  sideBySide(before, after).map(
    ({ before: left, after: right, isChanged }) => `${left}|${right}${isChanged ? ' *' : ''}`,
  )

it('puts changed lines beside each other, and leaves distant equal lines out', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`)
  const changed = lines.with(10, 'changed')
  expect(shown(lines.join('\n'), changed.join('\n'))).toEqual([
    'line 7|line 7',
    'line 8|line 8',
    'line 9|line 9',
    'line 10|changed *',
    'line 11|line 11',
    'line 12|line 12',
    'line 13|line 13',
    '…|…',
  ])
  expect(shown('a\nb\nc', 'a\nx\nb\nc\nd')).toEqual(['a|a', 'undefined|x *', 'b|b', 'c|c', 'undefined|d *'])
  expect(shown('', 'new')).toEqual(['undefined|new *'])
  expect(shown('same', 'same')).toEqual([])
})

it('compares texts of many lines without a large table', () => {
  const lines = (word: string) => Array.from({ length: 5000 }, (_, index) => `${word} ${index}`).join('\n')
  expect(sideBySide(`same\n${lines('a')}`, `same\n${lines('b')}`)).toHaveLength(5001)
})
