import { expect, it } from 'vitest'
import { splitInvisible } from './split-invisible.ts'

const shown = (text: string) => splitInvisible(text).map((part) => part.text)

it('leaves a visible text whole', () => {
  expect(splitInvisible('Zwölf\r\nGrüße\tæ 漢字 🙂')).toEqual([{ text: 'Zwölf\r\nGrüße\tæ 漢字 🙂', isEscape: false }])
})

it('writes control, bidi and tag characters as escapes of their own', () => {
  expect(shown('a\u001b[31mb')).toEqual(['a', '\\u{1b}', '[31mb'])
  expect(shown('x\u202e\u2066y')).toEqual(['x', '\\u{202e}\\u{2066}', 'y'])
  expect(shown('\u{e0041}')).toEqual(['\\u{e0041}'])
  expect(shown('over\rwrite')).toEqual(['over', '\\r', 'write'])
})
