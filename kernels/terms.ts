// What each word is indexed as: its stem, or nothing.
import { stretch, take } from './memory'
import { stem } from './stem'
import { createWordTable, find, findOrAdd, lengthOf, lettersOf, reserve, startOf, WordTable } from './word-table'

export const saysNothing: i32 = -1

const terms = createWordTable()
/** The term of each word. */
let room: i32 = 1 << 14
let termOfWord = take(<usize>room << 2)
let named: i32 = 0

// @ts-ignore: decorator
@inline
export function termOf(word: i32): i32 {
  return load<i32>(termOfWord + (<usize>word << 2))
}

/** How many words have been given their term; they are, in the order of their numbers. */
// @ts-ignore: decorator
@inline
export function getNamed(): i32 {
  return named
}

/** The term of the next word, from whoever knows. */
export function setTerm(term: i32): void {
  if (named === room) {
    termOfWord = stretch(termOfWord, <usize>room << 2, <usize>room << 3)
    room <<= 1
  }
  store<i32>(termOfWord + (<usize>named << 2), term)
  named++
}

/** The next word is indexed as its stem. */
export function stemWord(words: WordTable, word: i32): void {
  const length = lengthOf(words, word)
  const start = reserve(terms, length + 1)
  memory.copy(start, lettersOf(words, word), length)
  setTerm(addTermAt(start, stem(start, length)))
}

export function addTermAt(start: usize, length: i32): i32 {
  return findOrAdd(terms, start, length)
}
/** The number of a term, -1 for one that no tool ever had. */
export function findTermAt(start: usize, length: i32): i32 {
  return find(terms, start, length)
}

export function getTermCount(): i32 {
  return terms.count
}
export function termLettersAt(): usize {
  return terms.letters
}
export function termStart(term: i32): i32 {
  return startOf(terms, term)
}
