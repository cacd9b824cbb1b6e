import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitWords } from './split-words.ts'

describe('splitWords', () => {
  it.each([
    ['', []],
    ['  \t\n ', []],
    ['git', ['git']],
    ['  docker   compose\tps ', ['docker', 'compose', 'ps']],
    [`sh -c 'echo "hi"  there'`, ['sh', '-c', 'echo "hi"  there']],
    [`a "b c" d`, ['a', 'b c', 'd']],
    [`a "it's" d`, ['a', "it's", 'd']],
    [`--opt="x y"z`, ['--opt=x yz']],
    [`'a'"b"c`, ['abc']],
    [`'' ""`, ['', '']],
    [`a\\ b`, ['a b']],
    [`\\"a\\'`, [`"a'`]],
    [`"a\\"b"`, ['a"b']],
    [`"a\\\\b"`, ['a\\b']],
    [`"\\$HOME \\n"`, ['$HOME \\n']],
    [`'a\\b'`, ['a\\b']],
    [`a\\`, ['a\\']],
    ['a;b|c>d $(e) `f` *', ['a;b|c>d', '$(e)', '`f`', '*']],
  ])('splits %j into %j', (line, expected) => {
    expect(splitWords(line)).toEqual(expected)
  })

  it.each([
    [`a 'b`, "a ' is never closed"],
    [`a "b`, 'a " is never closed'],
    [`"a\\`, 'a " is never closed'],
    [`"a\\"`, 'a " is never closed'],
  ])('refuses %j', (line, message) => {
    expect(() => splitWords(line)).toThrow(new SyntaxError(message))
  })

  it('gives back every word that was quoted', () => {
    const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (words) => {
        expect(splitWords(words.map(quote).join(' '))).toEqual(words)
      }),
    )
  })
})
