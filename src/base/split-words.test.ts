import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findOpenQuote, splitWords } from './split-words.ts'

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
    [`a 'b c`, "'", ['a', "'b", 'c']],
    [`echo it's`, "'", ['echo', "it's"]],
    [`"a\\`, '"', [`"a\\`]],
    [`"a\\" b`, '"', [`"a\\"`, 'b']],
  ])('splits %j at blanks because its %s is never closed', (line, quote, words) => {
    expect(findOpenQuote(line)).toBe(quote)
    expect(splitWords(line)).toEqual(words)
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
