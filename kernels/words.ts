// Every word once, as a number. A text is read in one walk that looks words up by the letters where they stand.
import { hashNext, hashStart } from './hash'
import { stretch, take } from './memory'

const gap: u8 = 0
const lower: u8 = 1
const upper: u8 = 2
const digit: u8 = 3

const kinds = take(128)
for (let code: usize = 48; code < 58; code++) store<u8>(kinds + code, digit)
for (let code: usize = 65; code < 91; code++) store<u8>(kinds + code, upper)
for (let code: usize = 97; code < 123; code++) store<u8>(kinds + code, lower)

/** Where texts are put to be read. */
let textRoom: i32 = 1 << 16
let text = take(textRoom)

/** Number of a word plus one, by hash; 0 is free. */
let slotCount: u32 = 1 << 15
let slots = take(slotCount << 2)
/** For each word its hash, where its letters begin, how many there are. */
const wordBytes: u32 = 12
let wordRoom: i32 = 1 << 13
let words = take(<usize>wordRoom * wordBytes)
let wordCount: i32 = 0
let letterRoom: usize = 1 << 16
let letters = take(letterRoom)
let letterCount: usize = 0

/** The codes of what was read since `clear`. */
let codeRoom: i32 = 1 << 12
let codes = take(<usize>codeRoom << 2)
let codeCount: i32 = 0

export function textAt(length: i32): usize {
  if (length > textRoom) {
    textRoom = length * 2
    text = take(textRoom)
  }
  return text
}

export function getWordCount(): i32 {
  return wordCount
}
export function getCodes(): usize {
  return codes
}
export function getCodeCount(): i32 {
  return codeCount
}
/** The letters of all words, one after the other. */
export function lettersAt(): usize {
  return letters
}
/** Where the letters of a word begin among them. */
export function letterStart(word: i32): i32 {
  return word < wordCount ? load<i32>(words + <usize>word * wordBytes, 4) : <i32>letterCount
}

export function clear(): void {
  codeCount = 0
}

/** Reads a text of plain letters; false, and nothing read, where it has others. The first word is joined with `mark`. */
export function readText(length: i32, tag: i32, mark: i32): bool {
  const before = codeCount
  const end = text + length
  let start: usize = 0
  let last: u8 = gap
  let hash = hashStart
  for (let at = text; at < end; at++) {
    let code = load<u8>(at)
    if (code > 127) {
      codeCount = before
      return false
    }
    const kind = load<u8>(kinds + code)
    if (last !== gap && (kind === gap || breaks(last, kind, at, end))) {
      push(find(start, at - start, hash) | tag)
      last = gap
    }
    if (kind === gap) continue
    if (last === gap) {
      start = at
      hash = hashStart
    }
    if (kind === upper) {
      code += 32
      store<u8>(at, code)
    }
    hash = hashNext(hash, code)
    last = kind
  }
  if (last !== gap) push(find(start, end - start, hash) | tag)
  if (codeCount > before) store<i32>(codes + (<usize>before << 2), load<i32>(codes + (<usize>before << 2)) | mark)
  return true
}

/** Reads one word that was cut out elsewhere. */
export function readWord(length: i32, tag: i32): void {
  let hash = hashStart
  for (let at = text; at < text + length; at++) hash = hashNext(hash, load<u8>(at))
  push(find(text, length, hash) | tag)
}

/** Whether a new word begins: `aB`, `a1`, `1a`, `1A`, and the last capital of `ABc`. */
// @ts-ignore: decorator
@inline
function breaks(last: u8, kind: u8, at: usize, end: usize): bool {
  if (kind === last) return kind === upper && at + 1 < end && load<u8>(kinds + (load<u8>(at, 1) & 127)) === lower
  return kind === digit || last === digit || kind === upper
}

function push(code: i32): void {
  if (codeCount === codeRoom) {
    codes = stretch(codes, <usize>codeRoom << 2, <usize>codeRoom << 3)
    codeRoom <<= 1
  }
  store<i32>(codes + (<usize>codeCount << 2), code)
  codeCount++
}

function find(start: usize, length: usize, hash: u32): i32 {
  const mask = slotCount - 1
  let slot = (hash ^ (hash >> 15)) & mask
  while (true) {
    const number = load<i32>(slots + (slot << 2)) - 1
    if (number < 0) return add(start, length, hash, slot)
    const word = words + <usize>number * wordBytes
    if (load<u32>(word) === hash && load<u32>(word, 8) === <u32>length && isSame(letters + load<u32>(word, 4), start, length))
      return number
    slot = (slot + 1) & mask
  }
}

// @ts-ignore: decorator
@inline
function isSame(one: usize, other: usize, length: usize): bool {
  for (let at: usize = 0; at < length; at++) if (load<u8>(one + at) !== load<u8>(other + at)) return false
  return true
}

function add(start: usize, length: usize, hash: u32, slot: u32): i32 {
  const number = wordCount++
  if (wordCount > wordRoom) {
    words = stretch(words, <usize>wordRoom * wordBytes, <usize>wordRoom * wordBytes * 2)
    wordRoom <<= 1
  }
  if (letterCount + length > letterRoom) {
    const wanted = (letterRoom + length) * 2
    letters = stretch(letters, letterRoom, wanted)
    letterRoom = wanted
  }
  memory.copy(letters + letterCount, start, length)
  const word = words + <usize>number * wordBytes
  store<u32>(word, hash)
  store<u32>(word, <u32>letterCount, 4)
  store<u32>(word, <u32>length, 8)
  letterCount += length
  store<i32>(slots + (slot << 2), number + 1)
  if (<u32>wordCount * 2 > slotCount) spread()
  return number
}

function spread(): void {
  slotCount <<= 2
  slots = take(slotCount << 2)
  const mask = slotCount - 1
  for (let number = 0; number < wordCount; number++) {
    const hash = load<u32>(words + <usize>number * wordBytes)
    let slot = (hash ^ (hash >> 15)) & mask
    while (load<i32>(slots + (slot << 2)) !== 0) slot = (slot + 1) & mask
    store<i32>(slots + (slot << 2), number + 1)
  }
}
