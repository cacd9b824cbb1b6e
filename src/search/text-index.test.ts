import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TextIndex } from './text-index.ts'
import { createTokenizer, splitUnicode, termsOf } from './tokenize.ts'
import { fieldNames, isNamed } from './tool-fields.ts'

const endings = `ational tional enci anci izer abli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti
iviti biliti icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive
ize e ed eed ing s ss us ies sses y ll tt zz`
const part = fc.string({ unit: fc.constantFrom(...'aeiouybcdflmnrstwxz'), maxLength: 6 })
const ending = fc.constantFrom('', ...endings.split(/\s+/))
const english = fc.tuple(part, ending, ending).map((parts) => parts.join(''))
const odd = fc.string({ unit: fc.constantFrom(...'aB1_ éÉ²天気👋\ud800\udc00'), maxLength: 9 })
// Long enough for many steps of the walk, with signs that are part of no word beside characters that are.
const signs = fc.constantFrom(...'…’•—°«→❚、（👋天気ガกé²º❶々ßÉΣǅİ\u0308\ufe0f\ud83d')
const long = fc.array(fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...'abcABC12_- ') }, signs), { maxLength: 300 })
const sentence = long.map((parts) => parts.join(''))

/** The terms that tools have after these texts were read. */
function readTerms(texts: readonly string[]): ReadonlySet<string> {
  const index = new TextIndex(createTokenizer())
  for (const [position, text] of texts.entries()) index.add(position, { id: text, name: text, description: '' })
  return new Set(index.terms().filter((_, term) => index.sizeOf(term) > 0))
}

/** The words of the description of a tool. */
function wordsAt(index: TextIndex, position: number): readonly string[] {
  const numbers = Array.from(index.wordsOf(position).codes, (code) => [(code >> 24) & 7, code & 0xffffff] as const)
  const { letters, ends } = index.wordsFrom(0)
  const word = (number: number) => Buffer.from(letters.slice(ends[number - 1] ?? 0, ends[number])).toString()
  return numbers.filter(([field]) => fieldNames[field] === 'description').map(([, number]) => word(number))
}

describe('TextIndex', () => {
  it('has the terms that the tokenizer gives', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(english, odd), { maxLength: 12 }), (texts) => {
        const expected = new Set(texts.flatMap((text) => termsOf(createTokenizer(), text)))
        expect(readTerms(texts)).toEqual(expected)
      }),
      { numRuns: 100 },
    )
  })

  it('has the words of long texts in their order, whatever is between them', () => {
    fc.assert(
      fc.property(fc.array(sentence, { minLength: 1, maxLength: 4 }), (texts) => {
        const index = new TextIndex(createTokenizer())
        for (const [position, text] of texts.entries())
          index.add(position, { id: `${position}`, name: 'n', description: text })
        for (const [position, text] of texts.entries()) expect(wordsAt(index, position)).toEqual(splitUnicode(text))
      }),
      { numRuns: 300 },
    )
  })

  it('finds every tool by its name, its id, and its namespace with its name', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(odd, odd, odd), { minLength: 1, maxLength: 5 }), (rows) => {
        const index = new TextIndex(createTokenizer())
        const tools = rows.map(([id, namespace, name]) => ({ id, namespace, name, description: '' }))
        for (const [position, tool] of tools.entries()) index.add(position, tool)
        for (const [position, tool] of tools.entries())
          for (const query of [tool.name, tool.id])
            if (isNamed(tool, query)) expect(index.findNames(query)).toContain(position)
        index.remove(0)
        expect(index.findNames(tools[0]?.name ?? '')).not.toContain(0)
      }),
    )
  })

  it('reads more tools than fit in one batch, with texts of any script among them', () => {
    const texts = Array.from({ length: 3000 }, (_, index) =>
      index % 7 === 0 ? `größe天気 n${index}` : `plain text n${index}`,
    )
    expect(readTerms(texts)).toEqual(new Set(texts.flatMap((text) => termsOf(createTokenizer(), text))))
  })
})
