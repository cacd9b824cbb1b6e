// Words by their letters, as numbers, and the codes of what is being read.
import { hashNext, hashStart } from './hash'
import { stretch, take } from './memory'
import { digit, gap, lower, upper } from './odd-characters'
import { addTermAt, findTermAt, getNamed, saysNothing, setTerm, stemWord } from './terms'
import { createWordTable, findOrAdd, lengthOf, lettersOf, startOf } from './word-table'

const space: u8 = 32
/** Many letters are read at once, so a text has that much room after it. */
const slack: i32 = 64

const kinds = take(256)
for (let code: usize = 48; code < 58; code++) store<u8>(kinds + code, digit)
for (let code: usize = 65; code < 91; code++) store<u8>(kinds + code, upper)
for (let code: usize = 97; code < 123; code++) store<u8>(kinds + code, lower)

/** Where a word that was cut out elsewhere is put. */
let wordRoom: i32 = 1 << 12
let word = take(wordRoom)

const words = createWordTable()
/** Whether words are indexed as their stems; otherwise someone else says as what. */
let stems: bool = false
/** Where the words end that were asked for; there is room for all, so that asking moves no memory. */
let endRoom: i32 = 1 << 14
let ends = take(<usize>endRoom << 2)

/** The codes of what was read since `clear`. */
let codeRoom: i32 = 1 << 12
let codes = take(<usize>codeRoom << 2)
let codeCount: i32 = 0

export function wordAt(bytes: i32): usize {
  if (bytes + slack > wordRoom) {
    wordRoom = (bytes + slack) * 2
    word = take(wordRoom)
  }
  return word
}

export function getWordCount(): i32 {
  return words.count
}
// @ts-ignore: decorator
@inline
export function getCodes(): usize {
  return codes
}
// @ts-ignore: decorator
@inline
export function getCodeCount(): i32 {
  return codeCount
}
/** The letters of all words, one after the other. */
export function lettersAt(): usize {
  return words.letters
}
/** Where the letters of a word begin among them. */
export function letterStart(number: i32): i32 {
  return startOf(words, number)
}
/** Where each word from a number on ends, counted from where that one begins. */
export function endsFrom(number: i32): usize {
  const count = words.count - number
  const start = startOf(words, number)
  for (let index = 0; index < count; index++)
    store<i32>(ends + (<usize>index << 2), startOf(words, number + index + 1) - start)
  return ends
}

export function clear(): void {
  codeCount = 0
}

/** From here on words are indexed as their stems; those read before say nothing. */
export function useStems(): void {
  while (getNamed() < words.count) setTerm(saysNothing)
  stems = true
}

/** One more word, at the letters where it stands, which are small. */
// @ts-ignore: decorator
@inline
export function readWordAt(start: usize, length: usize, tag: i32): void {
  push(numberOf(start, length) | tag)
}

/** Joins what was read from a place in the codes on with a mark, if anything was. */
// @ts-ignore: decorator
@inline
export function markFirst(from: i32, mark: i32): void {
  if (codeCount > from) store<i32>(codes + (<usize>from << 2), load<i32>(codes + (<usize>from << 2)) | mark)
}

/** Reads words that were cut out elsewhere, a space after each. */
export function readWords(length: i32, tag: i32, mark: i32): void {
  let first = mark
  let start = word
  for (let at = word; at < word + length; at++) {
    if (load<u8>(at) !== space) continue
    push(numberOf(start, at - start) | tag | first)
    first = 0
    start = at + 1
  }
}

/** Reads one word that was cut out elsewhere. */
export function readWord(length: i32, tag: i32): void {
  push(numberOf(word, length) | tag)
}

// @ts-ignore: decorator
@inline
export function kindOfPlain(code: u8): u8 {
  return load<u8>(kinds + code)
}

/** The letters and digits of a plain text, hashed; false where it has others. */
export let plainHash: u32 = 0
export function hashPlain(text: usize, length: i32): bool {
  let hash = hashStart
  for (let at = text; at < text + length; at++) {
    const code = load<u8>(at)
    if (code > 127) return false
    const kind = load<u8>(kinds + code)
    if (kind !== gap) hash = hashNext(hash, kind === upper ? code + 32 : code)
  }
  plainHash = hash
  return true
}

/** The letters of the words in a field of what was read since `clear`, hashed from `hash` on; fields come in their order. */
export function hashField(field: i32, start: u32): u32 {
  let hash = start
  for (let at = codes; at < codes + (<usize>codeCount << 2); at += 4) {
    const code = load<i32>(at)
    const found = (code >> 24) & 7
    if (found > field) break
    const number = code & 0xffffff
    if (found === field) hash = hashLetters(lettersOf(words, number), lengthOf(words, number), hash)
  }
  return hash
}

export function hashLetters(start: usize, length: i32, from: u32): u32 {
  let hash = from
  for (let at = start; at < start + length; at++) hash = hashNext(hash, load<u8>(at))
  return hash
}

/** The term that was put at `wordAt`, known or not. */
export function internTerm(length: i32): i32 {
  return addTermAt(word, length)
}
export function findTerm(length: i32): i32 {
  return findTermAt(word, length)
}

// @ts-ignore: decorator
@inline
function push(code: i32): void {
  if (codeCount === codeRoom) growCodes()
  store<i32>(codes + (<usize>codeCount << 2), code)
  codeCount++
}

function growCodes(): void {
  codes = stretch(codes, <usize>codeRoom << 2, <usize>codeRoom << 3)
  codeRoom <<= 1
}

// @ts-ignore: decorator
@inline
function numberOf(start: usize, length: usize): i32 {
  const number = findOrAdd(words, start, length)
  if (number === endRoom) {
    endRoom <<= 1
    ends = take(<usize>endRoom << 2)
  }
  if (stems && number === getNamed()) stemWord(words, number)
  return number
}
