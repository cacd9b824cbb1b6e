import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPlainYaml } from './plain-yaml.ts'
import { writeYaml } from './write-yaml.ts'
import { parseYaml } from './yaml-document.ts'

const runs = Number(process.env.TOOLDEX_PROPERTY_RUNS ?? 1) * 500

/** What the full reader says; nothing where it finds anything wrong. */
function readFully(text: string): { readonly value: unknown } | undefined {
  const { value, problems } = parseYaml(text, 'x', { anyKey: true })
  return problems.length > 0 ? undefined : { value }
}

/** Whatever is read here is read the same by the full reader; order included. */
function expectSame(text: string): boolean {
  const read = readPlainYaml(text)
  if (read === undefined) return false
  expect(JSON.stringify(readFully(text)), JSON.stringify(text)).toBe(JSON.stringify(read))
  expect(readFully(text)).toEqual(read)
  return true
}

const pieces = [
  ...[
    'a',
    'b',
    'key',
    'a_b',
    '"q"',
    "'s'",
    "'it''s'",
    '"a\\nb"',
    '"\\u00e9"',
    'é',
    '1',
    '-1',
    '0',
    '1.5',
    '-0',
    '1e3',
    '.5',
  ],
  ...[
    'true',
    'True',
    'null',
    '~',
    '[]',
    '{}',
    '[a, b]',
    '{a: 1}',
    '|',
    '|-',
    '|+',
    '>',
    '|2',
    '- ',
    '-',
    '? ',
    ': ',
    ':',
  ],
  ...[
    ' ',
    '  ',
    '    ',
    '\n',
    '\n',
    '\n',
    '\n  ',
    '\n    ',
    '\n- ',
    '\n  - ',
    '#',
    ' # c',
    '\t',
    '\r',
    '&x ',
    '*x',
    '!t ',
    '---',
    '%',
  ],
  ...[
    'word word',
    'a: b',
    'http://x.y/z',
    '$ref',
    '(x)',
    '/p',
    '\u2028',
    '\u00a0',
    '=',
    '@',
    '`',
    ',',
    '...',
    '<<',
    '__proto__',
  ],
]

describe('the reader of plain YAML', () => {
  it('reads whatever the writer writes', () => {
    // Most numbers of the generator have exponents, which the plain form has not.
    const tame = (_: string, value: unknown) => (typeof value === 'number' ? Math.trunc(value) % 1000 : value)
    const json = fc
      .jsonValue({ maxDepth: 5, stringUnit: 'binary' })
      .map((value) => JSON.parse(JSON.stringify(value), tame))
    const values = fc.oneof(fc.dictionary(fc.string({ unit: 'binary' }), json), fc.array(json))
    let read = 0
    fc.assert(
      fc.property(values, (value) => {
        if (expectSame(writeYaml(value))) read++
      }),
      { numRuns: runs },
    )
    expect(read / runs).toBeGreaterThan(0.3)
  })

  it('reads nothing differently from the full reader, whatever the text', () => {
    const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((parts) => `${parts.join('')}\n`)
    fc.assert(
      fc.property(texts, (text) => void expectSame(text)),
      { numRuns: 20 * runs },
    )
  })

  it('reads nothing differently where a written text was tampered with', () => {
    const json = fc.jsonValue({ maxDepth: 4 })
    const cuts = fc.array(fc.record({ at: fc.nat(400), take: fc.nat(3), put: fc.constantFrom('', ...pieces) }), {
      maxLength: 3,
    })
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c d', 'e'), json), cuts, (value, changes) => {
        let text = writeYaml(value)
        for (const { at, take, put } of changes) {
          const place = at % (text.length + 1)
          text = text.slice(0, place) + put + text.slice(place + take)
        }
        expectSame(text)
      }),
      { numRuns: 4 * runs },
    )
  })

  it.each([
    ['a mapping', 'a: 1\nb: x y\n', { a: 1, b: 'x y' }],
    ['dashes right below their key', 'a:\n- 1\n- b: 2\n  c: 3\nd: 4\n', { a: [1, { b: 2, c: 3 }], d: 4 }],
    ['nothing behind a key', 'a:\nb:\n  c:\n', { a: null, b: { c: null } }],
    ['lists in lists', '- - 1\n  - 2\n-\n  - 3\n', [[1, 2], [3]]],
    [
      'literal blocks',
      'a: |\n  x\n    y\n\n  z\n\nb: |-\n  q\nc: |+\n  r\n\n',
      { a: 'x\n  y\n\nz\n', b: 'q', c: 'r\n\n' },
    ],
    ['words that every object knows', 'a: constructor\nb:\n  - toString\n', { a: 'constructor', b: ['toString'] }],
    ['comments on lines of their own', '# c\na: 1\n  # d\nb: 2\n', { a: 1, b: 2 }],
  ])('reads %s', (_, text, value) => {
    expect(readPlainYaml(text)).toEqual({ value })
    expectSame(text)
  })

  it.each([
    ['an anchor', 'a: &x 1\nb: *x\n'],
    ['a key twice', 'a: 1\na: 2\n'],
    ['a comment behind a value', 'a: b # c\n'],
    ['a text of two lines', 'a: b\n  c\n'],
    ['a tab', 'a:\n\tb: 1\n'],
    ['a key that reaches the prototype', '__proto__: 1\n'],
    ['a second document', 'a: 1\n---\nb: 2\n'],
    ['no line end', 'a: 1'],
  ])('leaves %s to the full reader', (_, text) => expect(readPlainYaml(text)).toBeUndefined())
})
