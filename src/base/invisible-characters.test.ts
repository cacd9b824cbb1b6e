import { describe, expect, it } from 'vitest'
import { escapeForTerminal, hasInvisible, showInvisible, toOneLine } from './invisible-characters.ts'

describe('visible text', () => {
  it.each([
    ['an escape sequence', '\u001b[31mred', '\\u{1b}[31mred'],
    ['a zero-width space', 'a\u200bb', 'a\\u{200b}b'],
    ['a bidirectional override', 'a\u202eb', 'a\\u{202e}b'],
    ['an isolate', '\u2066x\u2069', '\\u{2066}x\\u{2069}'],
    ['a tag character', 'a\u{e0041}', 'a\\u{e0041}'],
    ['a byte order mark', '\ufeffa', '\\u{feff}a'],
    ['a soft hyphen', 'a\u00adb', 'a\\u{ad}b'],
    ['a NUL', 'a\u0000b', 'a\\u{0}b'],
    ['a C1 control', 'a\u009bb', 'a\\u{9b}b'],
    ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
    ['a carriage return inside a line', 'rm -rf /\rls       ', 'rm -rf /\\rls       '],
    ['backspaces', 'safe\b\b\b\b', 'safe\\u{8}\\u{8}\\u{8}\\u{8}'],
  ])('shows %s', (_, text, shown) => {
    expect(hasInvisible(text)).toBe(true)
    expect(showInvisible(text)).toBe(shown)
    expect(hasInvisible(showInvisible(text))).toBe(false)
  })

  it.each(['plain', 'two\nlines\tand a tab\r\n', 'Größe, 天気, погода', '🦊', '1 < 2 — “quoted”', ''])(
    'leaves %j as it is',
    (text) => {
      expect(hasInvisible(text)).toBe(false)
      expect(showInvisible(text)).toBe(text)
    },
  )

  it.each([
    ['carriage returns that would overwrite a line', 'delete all\rlist all  \r\n', 'delete all\\rlist all  \r\n'],
    ['sequences that move the cursor or clear the screen', 'a\u001b[2J\u001b[1;1Hb', 'a\\u{1b}[2J\\u{1b}[1;1Hb'],
    ['the one that hides text', '\u001b[8mhidden', '\\u{1b}[8mhidden'],
    ['backspaces, vertical tabs, form feeds and C1 controls', '\b\v\f\u009b2J', '\\u{8}\\u{b}\\u{c}\\u{9b}2J'],
    ['marks that reorder text', 'a\u202eb\u2066c', 'a\\u{202e}b\\u{2066}c'],
  ])('shows %s on a terminal', (_, text, shown) => {
    expect(escapeForTerminal(text)).toBe(shown)
  })

  it('leaves line breaks, tabs and colors to a terminal', () => {
    const text = 'one\r\ntwo\t\u001b[31mred\u001b[39m \u001b[1mbold\u001b[22m\n'
    expect(escapeForTerminal(text)).toBe(text)
  })

  it('returns the same result every time', () => {
    expect([1, 2, 3].map(() => hasInvisible('x\u200b'))).toEqual([true, true, true])
  })

  it('puts everything on one line', () => {
    expect(toOneLine('a\nb\r\nc\td\u001b')).toBe('a\\nb\\r\\nc\\td\\u{1b}')
  })
})
