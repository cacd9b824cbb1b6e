import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNamed } from './is-named.ts'
import { TextIndex } from './text-index.ts'
import { createTokenizer, termsOf } from './tokenize.ts'

const endings = `ational tional enci anci izer abli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti
iviti biliti icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive
ize e ed eed ing s ss us ies sses y ll tt zz`
const part = fc.string({ unit: fc.constantFrom(...'aeiouybcdflmnrstwxz'), maxLength: 6 })
const ending = fc.constantFrom('', ...endings.split(/\s+/))
const english = fc.tuple(part, ending, ending).map((parts) => parts.join(''))
const odd = fc.string({ unit: fc.constantFrom(...'aB1_ éÉ²天気👋\ud800\udc00'), maxLength: 9 })

/** The terms that tools have after these texts were read. */
function readTerms(texts: readonly string[]): ReadonlySet<string> {
  const index = new TextIndex(createTokenizer())
  for (const [position, text] of texts.entries()) index.add(position, { id: text, name: text, description: '' })
  return new Set(index.terms().filter((_, term) => index.sizeOf(term) > 0))
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
