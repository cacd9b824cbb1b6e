// The words of an encoder by their letters: one word a line, its number that of the line.
import { hashNext, hashStart } from './hash'
import { take } from './memory'

const newline: u8 = 10

let letters: usize = 0
/** For each word its hash and where its line begins; one more than there are words. */
const lineBytes: u32 = 8
let lines: usize = 0
/** Number of a word plus one, by hash; 0 is free. */
let slotCount: u32 = 0
let slots: usize = 0

/** What a text of so many bytes and words takes. */
export function vocabularyBytes(bytes: i32, words: i32): usize {
  return <usize>bytes + <usize>words * (lineBytes + 16)
}

/** Room for the text, to be filled in before `indexWords`. */
export function wordsAt(bytes: i32): usize {
  letters = take(bytes + 1)
  return letters
}

export function indexWords(bytes: i32, words: i32): void {
  store<u8>(letters + bytes, newline)
  lines = take(<usize>(words + 1) * lineBytes)
  slotCount = 1 << (32 - clz<u32>(<u32>words * 2))
  slots = take(<usize>slotCount << 2)
  let hash = hashStart
  let number: u32 = 0
  for (let at: i32 = 0; at <= bytes && number < <u32>words; at++) {
    const letter = load<u8>(letters + at)
    if (letter !== newline) {
      hash = hashNext(hash, letter)
      continue
    }
    store<u32>(lines + number * lineBytes, hash)
    insert(hash, ++number)
    store<i32>(lines + number * lineBytes, at + 1, 4)
    hash = hashStart
  }
}

/** The number of a word, -1 for one that is not known. Numerals are known from training, but mean nothing. */
export function findWord(start: usize, length: i32): i32 {
  if (length === 0 || load<u8>(start) < 58) return -1
  let hash = hashStart
  for (let at = start; at < start + length; at++) hash = hashNext(hash, load<u8>(at))
  let slot = (hash ^ (hash >> 15)) & (slotCount - 1)
  while (true) {
    const number = load<i32>(slots + (slot << 2)) - 1
    if (number < 0) return -1
    const line = lines + <u32>number * lineBytes
    if (load<u32>(line) === hash && isLine(line, start, length)) return number
    slot = (slot + 1) & (slotCount - 1)
  }
}

function isLine(line: usize, start: usize, length: i32): bool {
  const first = load<i32>(line, 4)
  if (load<i32>(line, lineBytes + 4) - 1 - first !== length) return false
  for (let at = 0; at < length; at++) if (load<u8>(letters + first + at) !== load<u8>(start + at)) return false
  return true
}

function insert(hash: u32, value: u32): void {
  let slot = (hash ^ (hash >> 15)) & (slotCount - 1)
  while (load<u32>(slots + (slot << 2)) !== 0) slot = (slot + 1) & (slotCount - 1)
  store<u32>(slots + (slot << 2), value)
}
