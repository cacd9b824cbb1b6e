import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitIdentifiers, splitUnicode } from './tokenize.ts'

describe('splitIdentifiers', () => {
  it.each([
    ['git_commit', ['git', 'commit']],
    ['getUserID', ['get', 'user', 'id']],
    ['parseHTTPResponse', ['parse', 'http', 'response']],
    ['kebab-case.dotted', ['kebab', 'case', 'dotted']],
    ['v2Api', ['v', '2', 'api']],
    ['sha256sum', ['sha', '256', 'sum']],
    ['  ', []],
    ['Größe_ändern', ['größe', 'ändern']],
    ['天气预报', ['天气', '气预', '预报']],
    ['查询 weather', ['查询', 'weather']],
  ])('%s', (text, words) => {
    expect(splitIdentifiers(text)).toEqual(words)
  })

  it('splits in one walk as is defined', () => {
    const same = (text: string): void => {
      expect(splitIdentifiers(text)).toEqual(splitUnicode(text))
    }
    fc.assert(fc.property(fc.string({ unit: 'binary-ascii', maxLength: 40 }), same))
    const identifier = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'B', '1', '2', '_', ' '), maxLength: 20 })
    fc.assert(fc.property(identifier, same), { numRuns: 1000 })
    const other = fc.constantFrom(...'aB1_ éÉ²ªⅧ天気ガก๑々〇\u0308ΣσİǅḞ👋𝐀𐐀\ud800')
    fc.assert(fc.property(fc.string({ unit: other, maxLength: 12 }), same), { numRuns: 3000 })
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 20 }), same), { numRuns: 1000 })
  })
})
