import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffLines } from './describe-diff.ts'

describe('diffLines', () => {
  it('shows what went and what came between a few kept lines', () => {
    const before = '1\n2\n3\n4\nold\n6\n7\n8\n9\n'
    expect(diffLines(before, before.replace('old', 'new\nnewer'))).toEqual([
      ' 2',
      ' 3',
      ' 4',
      '-old',
      '+new',
      '+newer',
      ' 6',
      ' 7',
      ' 8',
    ])
  })

  it('shows two distant changes without the lines between them', () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`)
    const changed = lines.with(4, 'fifth').toSpliced(30, 1)
    expect(diffLines(lines.join('\n'), changed.join('\n'), 1)).toEqual([
      '@@ -4,3 +4,3 @@',
      ' line 4',
      '-line 5',
      '+fifth',
      ' line 6',
      '@@ -30,3 +30,2 @@',
      ' line 30',
      '-line 31',
      ' line 32',
    ])
  })

  it('shows both texts where most lines changed', () => {
    const lines = Array.from({ length: 400 }, (_, index) => String(index))
    const diff = diffLines(lines.join('\n'), lines.map((line) => `new ${line}`).join('\n'))
    expect([diff.length, diff[0], diff.at(-1)]).toEqual([800, '-0', '+new 399'])
  })

  it.each([
    ['two equal texts', 'a\nb\n', 'a\nb\n', []],
    ['nothing to something', '', 'a\nb\n', ['+a', '+b']],
    ['something to nothing', 'a\n', '', ['-a']],
    ['a line added at the end', 'a\n', 'a\nb\n', [' a', '+b']],
    ['a line added at the start', 'a\n', 'b\na\n', ['+b', ' a']],
    ['a line repeated', 'a\n', 'a\na\n', [' a', '+a']],
    ['an empty line', 'a\nb\n', 'a\n\nb\n', [' a', '+', ' b']],
  ])('shows %s', (_, before, after, expected) => {
    expect(diffLines(before, after)).toEqual(expected)
  })

  it('shows the requested number of context lines', () => {
    expect(diffLines('a\nb\nc\n', 'a\nb\nd\n', 1)).toEqual([' b', '-c', '+d'])
    expect(diffLines('a\nb\n', 'a\nc\n', 0)).toEqual(['-b', '+c'])
  })

  it('holds enough to make one text from the other', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 })
      .map((lines) => lines.map((line) => `${line}\n`).join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = diffLines(before, after, Number.MAX_SAFE_INTEGER)
        const side = (gone: string) =>
          diff
            .filter((line) => !line.startsWith(gone))
            .map((line) => `${line.slice(1)}\n`)
            .join('')
        if (before !== after) expect([side('+'), side('-')]).toEqual([before, after])
        else expect(diff).toEqual([])
      }),
    )
  })
})
