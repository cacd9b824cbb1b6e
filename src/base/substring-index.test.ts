import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SubstringIndex } from './substring-index.ts'

const newIndex = (texts: readonly string[]) =>
  new SubstringIndex([...texts.keys()], (position) => texts[position] as string)

/** An index after its first query, which scans. */
function indexOf(texts: readonly string[]) {
  const index = newIndex(texts)
  index.find('', 1)
  return index
}

/** What the index must find, by the plainest loop. */
function scan(texts: readonly string[], part: string): number[] {
  return [...texts.keys()].filter((position) => (texts[position] as string).includes(part))
}

// A small alphabet makes texts meet; the rest is what breaks indexes: wide characters, halves of pairs, controls.
const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '_'), maxLength: 40 })
const anything = fc.oneof(letters, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }))
const texts = fc.array(anything, { maxLength: 30 })

/** Texts with a query that is arbitrary or cut out of one of them, 0 to 10 characters long. */
const cases = texts.chain((held) => {
  const cut = fc.tuple(fc.nat(), fc.nat(), fc.nat({ max: 10 })).map(([which, start, length]) => {
    const text = held[which % Math.max(held.length, 1)] ?? ''
    const from = start % (text.length + 1)
    return text.slice(from, from + length)
  })
  return fc.tuple(
    fc.constant(held),
    fc.oneof(
      cut,
      anything.map((text) => text.slice(0, 10)),
    ),
  )
})

describe('SubstringIndex', () => {
  it('finds exactly what a plain loop finds, in order', () => {
    fc.assert(
      fc.property(cases, ([held, part]) => {
        const index = newIndex(held)
        expect(index.find(part, Number.POSITIVE_INFINITY)).toEqual(scan(held, part))
        expect(index.find(part, Number.POSITIVE_INFINITY)).toEqual(scan(held, part))
      }),
      { numRuns: 2000 },
    )
  })

  it('stops at the limit', () => {
    fc.assert(
      fc.property(cases, fc.integer({ min: 1, max: 5 }), ([held, part], limit) => {
        expect(indexOf(held).find(part, limit)).toEqual(scan(held, part).slice(0, limit))
      }),
    )
  })

  it('counts only accepted tools towards the limit, and calls the filter no more often than needed', () => {
    fc.assert(
      fc.property(cases, fc.integer({ min: 1, max: 5 }), ([held, part], limit) => {
        const asked: number[] = []
        const found = indexOf(held).find(part, limit, (position) => {
          asked.push(position)
          return position % 2 === 0
        })
        const expected = scan(held, part)
        expect(found).toEqual(expected.filter((position) => position % 2 === 0).slice(0, limit))
        const last = found.length < limit ? expected.length : expected.indexOf(found.at(-1) as number) + 1
        expect(asked).toEqual(expected.slice(0, last))
      }),
    )
  })

  it('does not mistake the triples of a query for the query', () => {
    // Both hold every triple of "abcabd", one of them not in a row.
    expect(indexOf(['abcab xx bcabd abd', 'abcabd']).find('abcabd', 10)).toEqual([1])
  })

  it.each([
    ['nothing', [], 'abc', []],
    ['the empty query', ['', 'a'], '', [0, 1]],
    ['a query of one character', ['xa', 'b', 'a'], 'a', [0, 2]],
    ['a query of two', ['xab', 'ba', 'ab'], 'ab', [0, 2]],
    ['a query longer than every text', ['abc'], 'abcd', []],
    ['a triple that all texts have', ['abc', 'abcd', 'xabc'], 'abc', [0, 1, 2]],
    ['characters outside the plane', ['🦊🐻🐼', '🐻🐼', '🐼🐻'], '🐻🐼', [0, 1]],
  ] as const)('is right about %s', (_, held, part, expected) => {
    expect(indexOf(held).find(part, 10)).toEqual(expected)
  })

  it('is right with more triples than buckets', () => {
    const held = Array.from(
      { length: 3000 },
      (_, position) => `tool ${position} ${(position * 7919).toString(36)} text`,
    )
    const index = indexOf(held)
    for (const part of ['tool', '299', '7k', 'zzz', ' 1999 ', 'text', 'l 12']) {
      expect(index.find(part, Number.POSITIVE_INFINITY)).toEqual(scan(held, part))
    }
  })
})
