import { describe, expect, it } from 'vitest'
import { expandHome, expandVariables } from './expand-variables.ts'

const env = { HOME: '/home/ada', EMPTY: '', A: '$B', B: 'b', _x1: 'under' }

describe('expandVariables', () => {
  it.each([
    ['plain', 'plain', []],
    ['', '', []],
    ['$HOME/bin', '/home/ada/bin', []],
    ['${HOME}bin', '/home/adabin', []],
    ['$HOMEbin', '$HOMEbin', ['HOMEbin']],
    ['$_x1', 'under', []],
    ['$UNSET', '$UNSET', ['UNSET']],
    ['${UNSET}', '${UNSET}', ['UNSET']],
    ['$UNSET and $HOME', '$UNSET and /home/ada', ['UNSET']],
    ['${UNSET:-}', '', []],
    ['${UNSET:-a b}', 'a b', []],
    ['${HOME:-x}', '/home/ada', []],
    ['$EMPTY', '', []],
    ['${EMPTY:-x}', 'x', []],
    ['$A', '$B', []],
    ['5$ $1 $$ ${} ${1}', '5$ $1 $$ ${} ${1}', []],
    ['$U $V $U', '$U $V $U', ['U', 'V', 'U']],
    ['${toString}', '${toString}', ['toString']],
  ])('in shell style turns %j into %j', (text, expected, missing) => {
    expect(expandVariables(text, env)).toEqual({ text: expected, missing })
  })

  it.each([
    ['$HOME', '$HOME', []],
    ['${HOME}', '/home/ada', []],
    ['${UNSET}', '${UNSET}', ['UNSET']],
    ['${UNSET:-x}$B', 'x$B', []],
    ['pa$$word', 'pa$$word', []],
  ])('in braced style turns %j into %j', (text, expected, missing) => {
    expect(expandVariables(text, env, 'braced')).toEqual({ text: expected, missing })
  })

  it('puts a value in as it is, even one that looks like a replacement', () => {
    expect(expandVariables('<$X>', { X: '$& $1 $$' }).text).toBe('<$& $1 $$>')
  })
})

describe('expandHome', () => {
  it.each([
    ['~', '/home/ada'],
    ['~/bin/x', '/home/ada/bin/x'],
    ['~eve/x', '~eve/x'],
    ['a~/b', 'a~/b'],
    ['/~', '/~'],
  ])('turns %j into %j', (text, expected) => {
    expect(expandHome(text, env)).toBe(expected)
  })

  it('leaves the sign where there is no home', () => {
    expect(expandHome('~/x', {})).toBe('~/x')
  })
})
